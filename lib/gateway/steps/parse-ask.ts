import { checkBudget, checkModel } from '#lib/admission/decide';
import { isRefusal, Refused } from '#lib/errors';
import type { Call } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';
import { readBody } from '#lib/gateway/upload/read-body';
import { checkFamily } from '#lib/routing/check-family';
import { checkNested } from '#lib/routing/nested';

/** Steps 8 to 10 of decisions §3: the body, the model, the output budget. */
export async function parseAsk(runtime: Runtime, call: Call): Promise<void> {
  const { operation, family, snapshot, arrival } = call;
  if (!operation?.fields || !family || !snapshot) return;
  const scanned = await readBody(runtime, arrival, operation, operation.fields);
  const ask = family.readAsk(operation, call.params, scanned);
  if (isRefusal(ask)) throw new Refused(ask);
  call.ask = ask;
  const catalogue = runtime.catalogue();
  const refused =
    checkModel(ask.model, snapshot, catalogue) ??
    checkFamily(catalogue.models.get(ask.model), family.id) ??
    checkNested(ask, family.id, snapshot, catalogue) ??
    (operation.steps === 'generate' ? checkBudget(ask, snapshot.key) : null);
  if (refused) throw new Refused(refused);
}
