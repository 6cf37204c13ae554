import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { findMember } from '#lib/console/member';
import { callFiguresOf } from '#lib/console/playground/figures';
import { showCall } from '#lib/control/operations/call/operations';

interface CallRoute {
  params: Promise<{ workspace: string; call: string }>;
}

/** The log's figures of a playground call; members get null until the call is in the log. */
export async function GET(_: Request, { params }: CallRoute): Promise<Response> {
  const { workspace, call } = await params;
  const told = await readForRoute(await findRouteActor(), showCall, workspace, { id: call });
  if ('value' in told) return Response.json(callFiguresOf(told.value));
  const awaited = told.refused.status === 404 && (await findMember(workspace)) !== null;
  return awaited ? Response.json(null) : told.refused;
}
