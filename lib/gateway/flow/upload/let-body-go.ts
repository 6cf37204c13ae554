import { dropBody } from '#lib/core/families/scan';
import { FREE_BYTES } from '#lib/gateway/flow/body-budget';
import { type AskedCall, extendCall } from '#lib/gateway/flow/call/call';
import type { Answer } from '#lib/gateway/upstream/attempt';

/**
 * Releases the memory of a large body once its answer has begun: no other target is tried then, so a body that was
 * sent completely is no longer needed. Otherwise an answer that streams for an hour would hold that memory all along.
 */
export function letBodyGo(call: AskedCall, { exchange }: Answer): void {
  const { ask, family } = call;
  if (ask.scan.body.length <= FREE_BYTES || !exchange.sentWhole) return;
  extendCall(call, { ask: { ...ask, ...family.remembered?.(ask) } });
  dropBody(ask.scan);
  call.arrival.body.free();
}
