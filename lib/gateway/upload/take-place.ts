import { Refused, unaccountable } from '#lib/errors';
import type { Call } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';

/**
 * A body of over 256 KiB is read only by a call that holds its RPM unit and its concurrency slots already:
 * steps 13 and 14 of decisions §3 without TPM, before step 8. What cannot be admitted anyway then costs no
 * memory and no scan. The claim takes the place over; a call that is refused before gives it back.
 * @returns what to wait for; undefined when the length was announced.
 */
export function takePlace(runtime: Runtime, call: Call): Promise<void> | undefined {
  if (!call.operation?.fields) return undefined;
  const large = call.arrival.body.large();
  if (typeof large !== 'boolean') return large.then((late) => take(runtime, call, late));
  take(runtime, call, large);
  return undefined;
}

function take(runtime: Runtime, call: Call, large: boolean): void {
  const { snapshot } = call;
  if (!large || !snapshot) return;
  if (!runtime.coordinator || !runtime.journal) {
    throw new Refused(unaccountable('cannot account for calls now'));
  }
  const refused = runtime.coordinator.place(call.id, snapshot);
  if (refused) throw new Refused(refused);
  call.placed = true;
}
