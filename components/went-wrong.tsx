'use client';

import { Button } from '#components/ui/button';

interface WentWrongProps {
  error: unknown;
  /** Requests the page again. */
  retry(): void;
}

/** The text of an error page: it is not the user's fault, a reference to quote, and a button to try again. */
export function WentWrong({ error, retry }: WentWrongProps) {
  const digest = error instanceof Error && 'digest' in error ? String(error.digest) : null;
  return (
    <>
      <p className="text-muted leading-6">
        Something went wrong on our side; your keys and calls are not affected.
        {digest ? (
          <>
            {' '}
            Reference: <code className="font-mono text-ink">{digest}</code>
          </>
        ) : null}
      </p>
      <Button tone="primary" onClick={retry}>
        Try again
      </Button>
    </>
  );
}
