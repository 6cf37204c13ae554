import { redirect } from 'next/navigation';
import { NoWorkspace } from '#components/account/no-workspace';
import { actorOf, controlHost } from '#lib/console/actor';
import { requireUser } from '#lib/console/session';
import { ask } from '#lib/control/operations/run';
import { listOwnWorkspaces } from '#lib/control/operations/user/own';

/** Redirects to the first workspace, or to the sign-in page. */
export default async function RootPage() {
  const user = await requireUser();
  const asked = { actor: await actorOf(user), input: {} };
  const [first] = (await ask(controlHost(), listOwnWorkspaces, asked)).data;
  if (first) redirect(`/${first.slug}`);
  return <NoWorkspace email={user.email} />;
}
