import { checkKey } from '#lib/admission/decide';
import { isRefusal, type Refusal, Refused, refusal } from '#lib/errors';
import type { Call } from '#lib/gateway/call';
import { readCredential } from '#lib/gateway/credentials';
import type { Runtime } from '#lib/gateway/runtime';
import type { KeySnapshot } from '#lib/snapshot/snapshot';

/**
 * Steps 3 to 7 of admission (contract: admission/order): the credential, its key, the key's state.
 * @returns what to wait for; undefined when the key is in memory.
 */
export function authenticate(runtime: Runtime, call: Call): Promise<void> | undefined {
  const credential = readCredential({ headers: call.arrival.headers, query: call.query });
  const missing = isRefusal(credential) && credential.code === 'missing_platform_authorization';
  if (missing) throw new Refused(credential);
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
  admitKey(runtime, call, read);
  return undefined;
}

/**
 * Refuses an address that is not served. 404 and 405 come before authentication, but are logged for the workspace of
 * the key if it is found (contract: call-log/unserved), whether or not the key is usable.
 * @throws Refused always.
 */
export async function refuseAddress(runtime: Runtime, call: Call, refused: Refusal): Promise<never> {
  const credential = readCredential({ headers: call.arrival.headers, query: call.query });
  if (!isRefusal(credential) && runtime.keys) {
    const snapshot = await runtime.keys.read(credential.secret);
    if (!isRefusal(snapshot)) call.snapshot = snapshot;
  }
  throw new Refused(refused);
}

function admitKey(runtime: Runtime, call: Call, snapshot: KeySnapshot | Refusal): void {
  if (isRefusal(snapshot)) throw new Refused(snapshot);
  call.snapshot = snapshot;
  const refused = checkKey(snapshot, runtime.clock.now());
  if (refused) throw new Refused(refused);
}
