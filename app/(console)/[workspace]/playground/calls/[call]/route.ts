import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { callFiguresOf } from '#lib/console/playground/figures';
import { showCall } from '#lib/control/call/operations';

interface CallRoute {
  params: Promise<{ workspace: string; call: string }>;
}

/** What the log says of a call of the playground; 404 until it is there. */
export async function GET(_: Request, { params }: CallRoute): Promise<Response> {
  const { workspace, call } = await params;
  const told = await readForRoute(await findRouteActor(), showCall, workspace, { id: call });
  return 'refused' in told ? told.refused : Response.json(callFiguresOf(told.value));
}
