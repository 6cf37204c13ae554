import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Ask, Operation } from '#lib/core/families/family';
import { images } from '#lib/core/families/images';
import { type Scan, scan } from '#lib/core/families/scan';

/** An operation of the family. @throws when it has none of that name. */
function operationNamed(name: string): Operation {
  const operation = images.operations.find((one) => one.name === name);
  if (!operation) throw new Error(`the images family has no ${name}`);
  return operation;
}

/** The ask of a JSON body, or the refusal that it meets. */
export function readImages(body: object, name = 'images.generate'): Ask | Refusal {
  const operation = operationNamed(name);
  const scanned = scan(Buffer.from(JSON.stringify(body)), operation.fields ?? {});
  if ('fault' in scanned) throw new Error(scanned.fault);
  return images.readAsk({ operation, params: {}, scan: scanned });
}

/** @throws when the body is refused. */
export function askImages(body: object, name?: string): Ask {
  const ask = readImages(body, name);
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}

/** The ask of a multipart body that was read already. @throws when it is refused. */
export function askUpload(scanned: Scan): Ask {
  const ask = images.readAsk({ operation: operationNamed('images.edit'), params: {}, scan: scanned });
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}
