import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Ask, Operation } from '#lib/core/families/family';
import { scan } from '#lib/core/families/scan';
import { videos } from '#lib/core/families/videos';

export function videoOperation(name: string): Operation {
  const operation = videos.operations.find((one) => one.name === `videos.${name}`);
  if (!operation) throw new Error(`there is no videos.${name}`);
  return operation;
}

/** The ask of a JSON body, or the refusal that it meets: of the scan as of its reader. */
export function readVideo(
  body: string | object,
  name: 'create' | 'remix' = 'create',
  params: Readonly<Record<string, string>> = {},
): Ask | Refusal {
  const operation = videoOperation(name);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const scanned = scan(Buffer.from(text), operation.fields ?? {});
  if ('fault' in scanned) return { code: 'invalid_body', message: scanned.fault };
  return videos.readAsk({ operation, params, scan: scanned });
}

/** @throws when the body is refused. */
export function askVideo(...given: Parameters<typeof readVideo>): Ask {
  const ask = readVideo(...given);
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}
