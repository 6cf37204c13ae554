import type { ReactNode } from 'react';
import { PublicShell } from '#components/shell/public-shell';
import { getConsoleHost } from '#lib/console/db';
import { findUser } from '#lib/console/session';

/** What strangers may read: the models, the documentation and the status page. */
export default async function PublicLayout({ children }: { children: ReactNode }) {
  const signedIn = (await findUser()) !== null;
  return (
    <PublicShell signedIn={signedIn} status={getConsoleHost().env.statusPage !== false}>
      {children}
    </PublicShell>
  );
}
