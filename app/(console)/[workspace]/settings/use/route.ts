import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { workspaceLimitRows } from '#lib/console/team/settings-texts';
import { showLimits } from '#lib/control/operations/workspace/limits';

/** What currently counts against the workspace's limits, polled by its panel. */
export async function GET(_: Request, { params }: { params: Promise<{ workspace: string }> }) {
  const told = await readForRoute(await findRouteActor(), showLimits, (await params).workspace, {});
  return 'refused' in told ? told.refused : Response.json({ rows: workspaceLimitRows(told.value) });
}
