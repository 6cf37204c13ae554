import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Ask, Operation } from '#lib/core/families/family';
import { responses } from '#lib/core/families/responses';
import { type Scan, scan } from '#lib/core/families/scan';

/** An operation of the family. @throws when it has none of that name. */
export function operationNamed(name: string): Operation {
  const operation = responses.operations.find((one) => one.name === name);
  if (!operation) throw new Error(`the responses family has no ${name}`);
  return operation;
}

/** The ask of a request for a response, or the refusal that it meets. */
export function readResponse(body: string | object): Ask | Refusal {
  const operation = operationNamed('responses.create');
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const scanned = scan(Buffer.from(text), operation.fields ?? {});
  if ('fault' in scanned) throw new Error(scanned.fault);
  return responses.readAsk({ operation, params: {}, scan: scanned });
}

/** @throws when the body is refused. */
export function askResponse(body: string | object): Ask {
  const ask = readResponse(body);
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}

/** What the pipeline asks for on behalf of a request without a body. */
export function askStored(name: string, id: string): Ask {
  const empty: Scan = {
    body: new Uint8Array(),
    root: { start: 0, end: 0, empty: true },
    found: new Map(),
    nulls: new Map(),
    collected: [],
    longStrings: [],
  };
  const { weight, ...silent } = askResponse({ model: 'm' });
  return {
    ...silent,
    operation: operationNamed(name),
    params: { id },
    weight: { ...weight, textBytes: 0 },
    scan: empty,
  };
}
