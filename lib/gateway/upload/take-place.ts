import { Refused, unaccountable } from '#lib/errors';
import { type AuthenticatedCall, extendCall } from '#lib/gateway/call/call';
import type { Runtime } from '#lib/gateway/runtime';

/**
 * Takes the RPM unit and the concurrency slots of a call before a body of over 256 KiB is read: the checks of limits
 * without TPM come before it (contract: body/large-first). A call that exceeds these limits then costs no memory and
 * no scan. The claim takes the place over; a call that is refused before its claim gives it back.
 * @returns a promise while the size of a body of unknown length is found out; undefined: the length was announced.
 */
export function takePlace(runtime: Runtime, call: AuthenticatedCall): Promise<void> | undefined {
  if (!call.operation.fields) return undefined;
  const large = call.arrival.body.large();
  if (typeof large !== 'boolean') return large.then((late) => take(runtime, call, late));
  take(runtime, call, large);
  return undefined;
}

function take(runtime: Runtime, call: AuthenticatedCall, large: boolean): void {
  if (!large) return;
  if (!runtime.coordinator || !runtime.journal) {
    throw new Refused(unaccountable('cannot account for calls now'));
  }
  const refused = runtime.coordinator.place(call.id, call.snapshot);
  if (refused) throw new Refused(refused);
  extendCall(call, { placed: true });
}
