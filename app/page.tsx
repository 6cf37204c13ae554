import { redirect } from 'next/navigation';
import { NoWorkspace } from '#components/account/no-workspace';
import { getConsoleHost } from '#lib/console/db';
import { requireUser } from '#lib/console/session';
import { listMemberships } from '#lib/queries/members';

/** The front door: to the first workspace, or to the sign-in page. */
export default async function RootPage() {
  const user = await requireUser();
  const [first] = await listMemberships(getConsoleHost().db, user.id);
  if (first) redirect(`/${first.workspace.slug}/keys`);
  return <NoWorkspace email={user.email} />;
}
