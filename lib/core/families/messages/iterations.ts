import { figureIn } from '#lib/core/families/reading/figures';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';
import { addUsage, type NestedUsage, noUsage, type Usage } from '#lib/core/metering/usage';

/** Figures that the passes of one call may share out between models. */
const shared = ['input', 'cachedInput', 'cacheWrite5m', 'cacheWrite1h', 'output', 'reasoning'] as const;

/**
 * Attributes the passes of a call to the models that made them. The totals count the passes of the
 * model itself and of a fallback that served, not those of a compaction or an advisor: a compaction is
 * added to `own`, an advisor's pass is counted separately under its own model, and what a fallback served
 * moves from `own` to the fallback.
 * @param read the figures of one pass.
 */
export function attribute(
  own: Usage,
  usage: JsonObject,
  read: (part: JsonObject) => Usage,
): readonly NestedUsage[] {
  const passes = listIn(usage.iterations)
    .map(objectIn)
    .filter((pass) => pass !== null);
  const nested: NestedUsage[] = [];
  const add = (upstreamModel: string, part: Usage, standing: Pick<NestedUsage, 'served'>) => {
    const same = (one: NestedUsage) => one.upstreamModel === upstreamModel && one.served === standing.served;
    const known = nested.find(same);
    if (known) addUsage(known.usage, part);
    else nested.push({ upstreamModel, usage: part, ...standing });
  };
  for (const pass of passes.filter(served)) {
    const model = textIn(pass.model);
    if (model) add(model, takeFrom(own, read(pass), pass), { served: true });
  }
  for (const pass of passes) {
    const model = textIn(pass.model);
    if (pass.type === 'advisor_message' && model) add(model, read(pass), {});
    else if (pass.type === 'compaction' || pass.type === 'advisor_message') addUsage(own, read(pass));
  }
  return nested;
}

/** A fallback that was refused too is listed without output and is in no total. */
function served({ type, output_tokens: output }: JsonObject): boolean {
  return type === 'fallback_message' && figureIn(output) !== 0;
}

/** Moves a pass out of the totals, never more than they hold. */
function takeFrom(own: Usage, pass: Usage, { output_tokens_details: details }: JsonObject): Usage {
  const moved = { ...noUsage };
  // The list seldom says how much was thinking; it is then attributed to the model that answered.
  const wanted = objectIn(details) ? pass : { ...pass, reasoning: Math.min(own.reasoning, pass.output) };
  for (const name of shared) {
    moved[name] = Math.min(own[name], wanted[name]);
    own[name] -= moved[name];
  }
  return moved;
}
