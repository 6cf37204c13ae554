import type { Call } from '#lib/gateway/flow/call/call';
import { preflightHeaders } from '#lib/gateway/flow/cors';
import type { Reply } from '#lib/gateway/flow/lane';
import type { Runtime } from '#lib/gateway/flow/runtime';

/**
 * Answers a browser that asks whether a page of a listed origin may send a request (contract: request/cors): no call,
 * so there is no key and no row.
 * @returns false: it is another request.
 */
export function answerPreflight({ origins }: Runtime, { arrival, headers }: Call, reply: Reply): boolean {
  const more = preflightHeaders(origins, arrival);
  if (more === null) return false;
  arrival.body.drop();
  reply.start(204, [...headers, ...more]);
  reply.end();
  return true;
}
