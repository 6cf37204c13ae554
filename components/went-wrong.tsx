'use client';

import { Button } from '#components/ui/button';

interface WentWrongProps {
  error: unknown;
  /** Asks the server again. */
  retry(): void;
}

/** What an error page says: whose fault it is not, what to do, and what to quote. */
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
