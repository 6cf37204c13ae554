import { systemClock } from '#lib/clock';
import { getConsoleHost } from '#lib/console/db';
import { nearestHop } from '#lib/console/forwarded';
import { createIds } from '#lib/ids';
import { requestsPerMinute } from '#lib/management/limits';
import { createPace } from '#lib/management/pace';
import { serveManagement } from '#lib/management/serve';
import { readWebBody } from '#lib/management/web-body';

const ids = createIds(systemClock);
const pace = createPace(requestsPerMinute);

/** The management API for a host that runs only Next; server.ts answers before Next is asked. */
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
