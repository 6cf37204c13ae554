import { getConsoleHost } from '#lib/console/db';
import { readWebBody } from '#lib/console/management/web-body';
import { requestsPerMinute } from '#lib/control/management/limits';
import { createPace } from '#lib/control/management/pace';
import { serveManagement } from '#lib/control/management/serve';
import { nearestHop } from '#lib/platform/client-address';
import { systemClock } from '#lib/platform/clock';
import { createIds } from '#lib/platform/ids';

const ids = createIds(systemClock);
const pace = createPace(requestsPerMinute);

/** The management API on a host that runs only Next; otherwise server.ts answers before Next is asked. */
export async function manageOnWeb(request: Request): Promise<Response> {
  const { control, report } = getConsoleHost();
  const { pathname, search } = new URL(request.url);
  const { status, headers, body } = await serveManagement(
    { control, pace, ids, report },
    {
      method: request.method,
      target: pathname + search,
      headers: Object.fromEntries(request.headers),
      address: nearestHop(request.headers.get('x-forwarded-for')),
      readBody: () => readWebBody(request.body),
    },
  );
  return new Response(body, { status, headers });
}
