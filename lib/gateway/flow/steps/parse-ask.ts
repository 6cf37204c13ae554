import { isRefusal, Refused } from '#lib/core/errors';
import { dropFindings, type Scan } from '#lib/core/families/scan';
import { checkBudget, checkModel } from '#lib/gateway/admission/pure/decide';
import { type AskedCall, allowsTranslation, extendCall, type FamilyCall } from '#lib/gateway/flow/call/call';
import { tagCall } from '#lib/gateway/flow/call/tag-call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { authenticate } from '#lib/gateway/flow/steps/authenticate';
import { fromSource } from '#lib/gateway/flow/steps/own-resource';
import { readBody } from '#lib/gateway/flow/upload/read-body';
import { checkFamily } from '#lib/gateway/routing/check-family';
import { resolveNames } from '#lib/gateway/routing/names/resolve';
import { checkNested } from '#lib/gateway/routing/pure/nested';
import { isEstimable, isTranslatable } from '#lib/gateway/routing/pure/translate';

/** Steps 8 to 10 of admission (contract: admission/order): the body, the model, the output budget. */
export function parseAsk(runtime: Runtime, call: FamilyCall): Promise<AskedCall> {
  const { arrival, operation, snapshot } = call;
  const bare = readBody(runtime, arrival, operation, snapshot.key.id);
  const read = snapshot.tagRules ? bare.then((scanned) => tagCall(call, scanned)) : bare;
  if (call.placed || operation.source) return read.then((scanned) => validateLate(runtime, call, scanned));
  return read.then((scanned) => validateAsk(runtime, call, scanned));
}

/**
 * A large body may take minutes to arrive, so the key and its permissions are read again
 * (contract: authentication/change-in-force).
 */
async function validateLate(runtime: Runtime, call: FamilyCall, scanned: Scan): Promise<AskedCall> {
  const known = call.placed ? await authenticate(runtime, call) : call;
  return validateAsk(runtime, await fromSource(runtime, known, scanned), scanned);
}

function validateAsk(runtime: Runtime, call: FamilyCall, scanned: Scan): AskedCall {
  const { operation, family, snapshot } = call;
  const ask = family.readAsk({ operation, params: call.params, scan: scanned });
  dropFindings(scanned);
  if (isRefusal(ask)) throw new Refused(ask);
  // The call log names the model as it was sent, whatever is wrong with it.
  extendCall(call, { ask });
  const catalogue = runtime.catalogue();
  const named = resolveNames(ask, family.id, snapshot, catalogue);
  if ('code' in named) throw new Refused(named);
  const asked = extendCall(call, { ask: named });
  const refused =
    checkModel(named.model, snapshot, catalogue) ??
    checkFamily(catalogue.models.get(named.model), family.id, mayTranslate(asked)) ??
    checkNested(named, { family: family.id, snapshot, catalogue, nowMs: runtime.clock.now() }) ??
    (operation.steps === 'generate' ? checkBudget(named, snapshot.key) : null);
  if (refused) throw new Refused(refused);
  return asked;
}

function mayTranslate(call: AskedCall): boolean {
  const { ask, family, pinned } = call;
  if (!allowsTranslation(call, ask.model)) return false;
  return isTranslatable(ask, family.id, pinned) || isEstimable(ask, family.id, pinned);
}
