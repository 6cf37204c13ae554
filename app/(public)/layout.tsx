import type { ReactNode } from 'react';
import { PublicShell } from '#components/shell/public-shell';
import { getConsoleHost } from '#lib/console/db';
import { findUser } from '#lib/console/session';

/** The public pages: models, documentation and status. */
export default async function PublicLayout({ children }: { children: ReactNode }) {
  const signedIn = (await findUser()) !== null;
  return (
    <PublicShell signedIn={signedIn} status={getConsoleHost().env.statusPage !== false}>
      {children}
    </PublicShell>
  );
}
