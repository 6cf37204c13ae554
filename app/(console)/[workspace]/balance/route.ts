import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { showBalance } from '#lib/console/show/balance';
import { visitWorkspace } from '#lib/control/operations/user/own';

/** The available balance, for the sidebar, which stays when the page changes. */
export async function GET(_: Request, { params }: { params: Promise<{ workspace: string }> }) {
  const told = await readForRoute(await findRouteActor(), visitWorkspace, (await params).workspace, {});
  return 'refused' in told ? told.refused : Response.json(showBalance(told.value));
}
