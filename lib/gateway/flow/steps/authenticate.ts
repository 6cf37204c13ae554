import { isRefusal, type Refusal, Refused, refusal } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import { checkKey } from '#lib/gateway/admission/pure/decide';
import { type AuthenticatedCall, type Call, extendCall, type MatchedCall } from '#lib/gateway/flow/call/call';
import { readCredential } from '#lib/gateway/flow/credentials';
import type { Runtime } from '#lib/gateway/flow/runtime';

/**
 * Steps 3 to 7 of admission (contract: admission/order): the credential, its key, the key's state.
 * @returns a promise only when the key is not in memory.
 */
export function authenticate<Stage extends MatchedCall>(
  runtime: Runtime,
  call: Stage,
): (Stage & AuthenticatedCall) | Promise<Stage & AuthenticatedCall> {
  const sent = readCredential({ headers: call.arrival.headers, query: call.query });
  const missing = isRefusal(sent) && sent.code === 'missing_platform_authorization';
  if (missing && call.ticket === null) throw new Refused(sent);
  const credential = missing && call.ticket ? call.ticket : sent;
  if (!runtime.keys) {
    throw new Refused(
      refusal(
        'resolver_not_configured',
        'This process cannot resolve API keys; its operator must set DATABASE_URL and KEY_PEPPER and restart it.',
      ),
    );
  }
  if (isRefusal(credential)) throw new Refused(credential);
  const read = runtime.keys.read(credential.secret);
  if (read instanceof Promise) return read.then((late) => admitKey(runtime, call, late));
  return admitKey(runtime, call, read);
}

/**
 * The refusal of an address that is not served. 404 and 405 come before authentication, but are logged for the
 * workspace of the key if it is found (contract: call-log/unserved), whether or not the key is usable.
 */
export async function refuseAddress(runtime: Runtime, call: Call, refused: Refusal): Promise<Refused> {
  const credential = readCredential({ headers: call.arrival.headers, query: call.query });
  if (!isRefusal(credential) && runtime.keys) {
    const snapshot = await runtime.keys.read(credential.secret);
    if (!isRefusal(snapshot)) extendCall(call, { snapshot });
  }
  return new Refused(refused);
}

function admitKey<Stage extends MatchedCall>(
  runtime: Runtime,
  call: Stage,
  snapshot: KeySnapshot | Refusal,
): Stage & AuthenticatedCall {
  if (isRefusal(snapshot)) throw new Refused(snapshot);
  const known = extendCall(call, { snapshot });
  const refused = checkKey(snapshot, runtime.clock.now());
  if (refused) throw new Refused(refused);
  return known;
}
