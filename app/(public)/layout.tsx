import type { ReactNode } from 'react';
import { PublicShell } from '#components/shell/public-shell';
import { findUser } from '#lib/console/session';

/** What strangers may read: the models and the documentation. */
export default async function PublicLayout({ children }: { children: ReactNode }) {
  return <PublicShell signedIn={(await findUser()) !== null}>{children}</PublicShell>;
}
