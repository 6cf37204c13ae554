import Link from 'next/link';
import { MessagePage } from '#components/message-page';
import { buttonStyle } from '#components/ui/button';

export const metadata = { title: 'Not found' };

/** The same page for what does not exist and for what belongs to others. */
export default function NotFound() {
  return (
    <MessagePage title="Page not found">
      <p className="text-muted leading-6">
        The address may be wrong, or you may not be a member of its workspace.
      </p>
      <Link href="/" className={buttonStyle({ tone: 'primary' })}>
        Go to your workspace
      </Link>
    </MessagePage>
  );
}
