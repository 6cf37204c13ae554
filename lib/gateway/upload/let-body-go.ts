import { dropBody } from '#lib/families/scan';
import { FREE_BYTES } from '#lib/gateway/body-budget';
import type { Call } from '#lib/gateway/call';
import type { Answer } from '#lib/upstream/attempt';

/**
 * Once its answer has begun no other target is tried, so a large body that was sent whole is not needed any
 * more: its memory goes back to the budget, which an answer that streams for an hour would else keep from
 * others.
 */
export function letBodyGo(call: Call, { exchange }: Answer): void {
  const { ask, family } = call;
  if (!ask || !family || ask.scan.body.length <= FREE_BYTES || !exchange.sentWhole) return;
  call.ask = { ...ask, ...family.remembered?.(ask) };
  dropBody(ask.scan);
  call.arrival.body.free();
}
