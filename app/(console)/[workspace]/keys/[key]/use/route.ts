import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { findMember } from '#lib/console/member';
import { limitRowsOf } from '#lib/console/show/key/use';
import { showKeyUse } from '#lib/control/operations/key/use';

interface KeyRoute {
  params: Promise<{ workspace: string; key: string }>;
}

/** What currently counts against a key's limits, polled by its panel. */
export async function GET(_: Request, { params }: KeyRoute): Promise<Response> {
  const { workspace, key } = await params;
  const told = await readForRoute(await findRouteActor(), showKeyUse, workspace, { id: key });
  if ('refused' in told) return told.refused;
  const timeZone = (await findMember(workspace))?.workspace.timeZone ?? 'UTC';
  return Response.json({ rows: limitRowsOf(told.value, { timeZone, nowMs: Date.now() }) });
}
