import { type Refusal, Refused, unaccountable } from '#lib/core/errors';
import { type AuthenticatedCall, extendCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';

/**
 * Takes the RPM unit and the concurrency slots of a call before a body of over 256 KiB is read: the checks of limits
 * without TPM come before it (contract: body/large-first). A call that exceeds these limits then costs no memory and
 * no scan. The claim takes the place over; a call that is refused before its claim gives it back.
 * @returns a promise while the size of a body of unknown length is being determined, or while the limits' store is
 * asked.
 */
export function takePlace(runtime: Runtime, call: AuthenticatedCall): Promise<void> | undefined {
  if (!call.operation.fields) return undefined;
  const large = call.arrival.body.large();
  if (typeof large !== 'boolean') return large.then((late) => take(runtime, call, late));
  return take(runtime, call, large);
}

function take(runtime: Runtime, call: AuthenticatedCall, large: boolean): Promise<void> | undefined {
  return large ? placeCall(runtime, call) : undefined;
}

/** Takes the RPM unit and the concurrency slots of a call that has none yet; its claim takes them over. */
export function placeCall(runtime: Runtime, call: AuthenticatedCall): Promise<void> | undefined {
  if (call.placed) return undefined;
  if (!runtime.coordinator || !runtime.journal) {
    throw new Refused(unaccountable('cannot account for calls right now'));
  }
  const refused = runtime.coordinator.place(call.id, call.snapshot);
  if (refused instanceof Promise) return refused.then((late) => placed(call, late));
  placed(call, refused);
  return undefined;
}

function placed(call: AuthenticatedCall, refused: Refusal | null): void {
  if (refused) throw new Refused(refused);
  extendCall(call, { placed: true });
}
