import { isUtf8 } from 'node:buffer';
import { systemClock } from '#lib/clock';
import { getConsoleHost } from '#lib/console/db';
import { nearestHop } from '#lib/console/forwarded';
import { refusal } from '#lib/errors';
import { createIds } from '#lib/ids';
import { Denied } from '#lib/management/answer';
import { createPace } from '#lib/management/pace';
import { requestsPerMinute, serveManagement } from '#lib/management/serve';

const mostBytes = 1024 * 1024;
const ids = createIds(systemClock);
const pace = createPace(requestsPerMinute);

/** The management API for a host that runs only Next; server.ts answers before Next is asked. */
export async function manageOnWeb(request: Request): Promise<Response> {
  const { db, env, pollNow, report } = getConsoleHost();
  const { pathname, search } = new URL(request.url);
  const { status, headers, body } = await serveManagement(
    { control: { db, keyPepper: env.keyPepper, changed: pollNow }, pace, ids, report },
    {
      method: request.method,
      target: pathname + search,
      headers: Object.fromEntries(request.headers),
      address: nearestHop(request.headers.get('x-forwarded-for')),
      readBody: () => readAll(request),
    },
  );
  return new Response(body, { status, headers });
}

async function readAll(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > mostBytes) {
      throw new Denied(refusal('invalid_body', 'The body is larger than 1 MiB; send less at once.'));
    }
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!isUtf8(body)) {
    throw new Denied(refusal('invalid_body', 'The body is not UTF-8 text; send JSON in UTF-8.'));
  }
  return body.toString('utf8');
}
