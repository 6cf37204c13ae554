import { dropBody } from '#lib/core/families/scan';
import type { GivenAnswer } from '#lib/gateway/flow/attempt/try-targets';
import { FREE_BYTES } from '#lib/gateway/flow/body-budget';
import { type AskedCall, extendCall } from '#lib/gateway/flow/call/call';

/**
 * Releases the memory of a large body once its answer has begun: no other target is tried then, so a body that was
 * sent completely is no longer needed. Otherwise an answer that streams for an hour would hold that memory all along.
 */
export function letBodyGo(call: AskedCall, { exchange, translated }: GivenAnswer): void {
  const { ask, family, clientRequest } = call;
  clientRequest?.free();
  if (translated && exchange.sentWhole) dropBody(translated.sent.ask.scan);
  if (ask.scan.body.length <= FREE_BYTES || !exchange.sentWhole) return;
  extendCall(call, { ask: { ...ask, ...family.remembered?.(ask) } });
  dropBody(ask.scan);
  call.arrival.body.free();
}
