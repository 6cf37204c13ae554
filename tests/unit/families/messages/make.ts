import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Ask } from '#lib/core/families/family';
import { messages } from '#lib/core/families/messages';
import { scan } from '#lib/core/families/scan';

/** The ask of a messages body, or the refusal that it meets. */
export function readMessages(body: string | object, name = 'messages.create'): Ask | Refusal {
  const operation = messages.operations.find((one) => one.name === name);
  if (!operation) throw new Error(`the messages family has no ${name}`);
  const scanned = scan(
    Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    operation.fields ?? {},
  );
  if ('fault' in scanned) throw new Error(scanned.fault);
  return messages.readAsk({ operation, params: {}, scan: scanned });
}

/** @throws when the body is refused. */
export function askMessages(body: string | object, name?: string): Ask {
  const ask = readMessages(body, name);
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}
