'use client';

import { MessagePage } from '#components/message-page';
import { WentWrong } from '#components/went-wrong';

export default function ErrorPage({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <MessagePage title="This page could not be shown">
      <WentWrong error={error} retry={retry} />
    </MessagePage>
  );
}
