import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Ask, Operation } from '#lib/core/families/family';
import { generateContent } from '#lib/core/families/generate-content';
import { scan } from '#lib/core/families/scan';

export type ContentVerb = 'generate' | 'stream' | 'count' | 'predictLongRunning';

function contentOperation(verb: ContentVerb): Operation {
  const operation = generateContent.operations.find(({ name }) => name === `content.${verb}`);
  if (!operation) throw new Error(`there is no content.${verb}`);
  return operation;
}

/** The ask of a body of this family, or the refusal that it meets: of the scan as of its reader. */
export function readContent(body: string | object, verb: ContentVerb = 'generate'): Ask | Refusal {
  const operation = contentOperation(verb);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const scanned = scan(Buffer.from(text), operation.fields ?? {});
  if ('fault' in scanned) return { code: 'invalid_body', message: scanned.fault };
  return generateContent.readAsk({ operation, params: { model: 'vendor/name' }, scan: scanned });
}

/** @throws when the body is refused. */
export function askContent(body: string | object = {}, verb: ContentVerb = 'generate'): Ask {
  const ask = readContent(body, verb);
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}
