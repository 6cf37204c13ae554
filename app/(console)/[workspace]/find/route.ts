import type { NextRequest } from 'next/server';
import type { Found, FoundCall } from '#components/palette/entries';
import type { Option } from '#components/ui/name-box-frame';
import { findRouteActor, readForRoute } from '#lib/console/live/route';
import { listCalledModels, listCalls } from '#lib/control/operations/call/operations';
import { listModelNames } from '#lib/control/operations/catalogue/operations';
import { listKeyNames } from '#lib/control/operations/key/operations';

interface FindRoute {
  params: Promise<{ workspace: string }>;
}

const mostKeys = 500;
/** What a box of a filter offers at once. */
const mostOptions = 60;

/**
 * For the palette: the names of keys and models; with `?id=` the newest call with this id, whether the gateway, the client or the provider made the id. For the
 * filters of the log: with `?key=` the keys whose names have this text, with `?called=` the models that were called.
 */
export async function GET(request: NextRequest, { params }: FindRoute): Promise<Response> {
  const { workspace } = await params;
  const actor = await findRouteActor();
  const { searchParams } = request.nextUrl;
  const [key, called] = [searchParams.get('key'), searchParams.get('called')];
  if (key !== null) {
    const found = await readForRoute(actor, listKeyNames, workspace, searchOf(key));
    if ('refused' in found) return found.refused;
    return Response.json(found.value.data.map(({ id, name }): Option => ({ value: id, label: name })));
  }
  if (called !== null) {
    const found = await readForRoute(actor, listCalledModels, workspace, searchOf(called));
    if ('refused' in found) return found.refused;
    return Response.json(found.value.data.map((model): Option => ({ value: model, label: model })));
  }
  const id = searchParams.get('id');
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

function searchOf(text: string) {
  return { ...(text.trim() === '' ? {} : { search: text.trim() }), limit: mostOptions };
}
