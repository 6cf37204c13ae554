'use client';

import { MessagePage } from '#components/message-page';
import { Button } from '#components/ui/button';

interface ErrorPageProps {
  error: Error & { digest?: string };
  reset: () => void;
}

export default function ErrorPage({ error, reset }: ErrorPageProps) {
  return (
    <MessagePage
      title="This page could not be shown"
      action={
        <Button tone="primary" onClick={reset}>
          Try again
        </Button>
      }
    >
      Something went wrong on our side; your keys and calls are not affected.
      {error.digest ? (
        <>
          {' '}
          Reference: <code className="font-mono text-ink">{error.digest}</code>
        </>
      ) : null}
    </MessagePage>
  );
}
