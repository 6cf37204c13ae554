import { checkBudget, checkModel } from '#lib/admission/decide';
import { isRefusal, Refused } from '#lib/errors';
import type { Family, Operation } from '#lib/families/family';
import { dropFindings, type Scan } from '#lib/families/scan';
import type { Call } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';
import { authenticate } from '#lib/gateway/steps/authenticate';
import { readBody } from '#lib/gateway/upload/read-body';
import { checkFamily } from '#lib/routing/check-family';
import { checkNested } from '#lib/routing/names/nested';
import { resolveNames } from '#lib/routing/names/resolve';
import type { KeySnapshot } from '#lib/snapshot/snapshot';

/**
 * Steps 8 to 10 of admission (contract: admission/order): the body, the model, the output budget.
 * @returns what to wait for; undefined when the operation takes no body.
 */
export function parseAsk(runtime: Runtime, call: Call): Promise<void> | undefined {
  const { operation, family, snapshot } = call;
  if (!operation?.fields || !family || !snapshot) return undefined;
  const read = readBody(runtime, call.arrival, operation, operation.fields, snapshot.key.id);
  if (call.placed) return read.then((scanned) => takeLate(runtime, call, operation, family, scanned));
  return read.then((scanned) => takeAsk(runtime, call, operation, family, snapshot, scanned));
}

/**
 * A large body may take minutes to arrive, so the key and its permissions are read again
 * (contract: authentication/change-in-force).
 */
async function takeLate(
  runtime: Runtime,
  call: Call,
  operation: Operation,
  family: Family,
  scanned: Scan,
): Promise<void> {
  await authenticate(runtime, call);
  if (call.snapshot) takeAsk(runtime, call, operation, family, call.snapshot, scanned);
}

function takeAsk(
  runtime: Runtime,
  call: Call,
  operation: Operation,
  family: Family,
  snapshot: KeySnapshot,
  scanned: Scan,
): void {
  const ask = family.readAsk(operation, call.params, scanned);
  dropFindings(scanned);
  if (isRefusal(ask)) throw new Refused(ask);
  call.ask = ask;
  const catalogue = runtime.catalogue();
  const named = resolveNames(ask, family.id, snapshot, catalogue);
  if ('code' in named) throw new Refused(named);
  call.ask = named;
  const refused =
    checkModel(named.model, snapshot, catalogue) ??
    checkFamily(catalogue.models.get(named.model), family.id) ??
    checkNested(named, family.id, snapshot, catalogue) ??
    (operation.steps === 'generate' ? checkBudget(named, snapshot.key) : null);
  if (refused) throw new Refused(refused);
}
