import type { NextRequest } from 'next/server';
import type { Found, FoundCall } from '#components/palette/entries';
import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { listCalls } from '#lib/control/operations/call/operations';
import { listModelNames } from '#lib/control/operations/catalogue/operations';
import { listKeyNames } from '#lib/control/operations/key/operations';

interface FindRoute {
  params: Promise<{ workspace: string }>;
}

const mostKeys = 500;

/** For the palette: names of keys and models; with `?id=`, the newest call with that id of any kind. */
export async function GET(request: NextRequest, { params }: FindRoute): Promise<Response> {
  const { workspace } = await params;
  const actor = await findRouteActor();
  const id = request.nextUrl.searchParams.get('id');
  if (id !== null) {
    const calls = await readForRoute(actor, listCalls, workspace, { id, limit: 1 });
    if ('refused' in calls) return calls.refused;
    const [call] = calls.value.data;
    const found: FoundCall = { href: call ? `/${call.workspace}/logs/${call.id}` : null };
    return Response.json(found);
  }
  const [keys, models] = await Promise.all([
    readForRoute(actor, listKeyNames, workspace, { limit: mostKeys }),
    readForRoute(actor, listModelNames, workspace, {}),
  ]);
  if ('refused' in keys) return keys.refused;
  if ('refused' in models) return models.refused;
  const found: Found = { keys: keys.value.data, models: models.value.data };
  return Response.json(found);
}
