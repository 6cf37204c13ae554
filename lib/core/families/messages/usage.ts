import type { Ask } from '#lib/core/families/family';
import { asksForHour } from '#lib/core/families/messages/cache-time';
import { attribute } from '#lib/core/families/messages/iterations';
import { Figures, figureIn } from '#lib/core/families/reading/figures';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';
import { searchesIn } from '#lib/core/families/reading/searches';
import { tierOf } from '#lib/core/metering/service-tier';
import { type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

const totals = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'iterations',
] as const;

/** Usage of a whole message; null when it has none, as a count of tokens. */
export function readMessageUsage(ask: Ask, answer: unknown): UsageReport | null {
  const usage = objectIn(objectIn(answer)?.usage);
  return usage && reportOf(ask, usage);
}

/**
 * A usage object as the family's classes: input is uncached, cache reads and writes are counted next to it,
 * thinking is a part of output. What the list of iterations shows outside the totals is added.
 * @returns null for an object without any figure: it reports nothing, which is not the same as zero.
 */
export function reportOf(ask: Ask, usage: JsonObject): UsageReport | null {
  if (totals.every((name) => (usage[name] ?? null) === null)) return null;
  const figures = new Figures();
  const own = partOf(ask, usage, figures);
  own.webSearches = searchesIn(usage, figures) ?? 0;
  const nested = attribute(own, usage, (pass) => passOf(ask, pass, own, figures));
  const iterated = listIn(usage.iterations).length > 1;
  return {
    usage: own,
    serviceTier: namedTier(ask, usage),
    nested,
    ...(iterated ? { iterated } : {}),
    ...figures.marks(),
  };
}

function partOf(ask: Ask, usage: JsonObject, figures: Figures): Usage {
  const output = figures.read(usage.output_tokens, 'output');
  const thinking = figures.read(objectIn(usage.output_tokens_details)?.thinking_tokens);
  return usageOf({
    input: figures.read(usage.input_tokens, 'input'),
    cachedInput: figures.read(usage.cache_read_input_tokens, 'input'),
    ...cacheWrites(ask, usage, figures),
    output,
    reasoning: Math.min(thinking, output),
  });
}

/** One pass of the list. A figure that cannot be read counts as that of the whole call: it read and wrote as much. */
function passOf(ask: Ask, pass: JsonObject, whole: Usage, figures: Figures): Usage {
  const { input_tokens: input, output_tokens: output, ...rest } = pass;
  const read = (value: unknown, otherwise: number) =>
    figureIn(value) === null ? figures.read(value) + otherwise : value;
  const inputs = whole.input + whole.cachedInput + whole.cacheWrite5m + whole.cacheWrite1h;
  const told = { ...rest, input_tokens: read(input, inputs), output_tokens: read(output, whole.output) };
  return partOf(ask, told, figures);
}

/** Writes by lifetime; what the answer does not divide has the lifetime that the request asks for. */
function cacheWrites(ask: Ask, usage: JsonObject, figures: Figures) {
  const divided = objectIn(usage.cache_creation);
  const told = usage.cache_creation_input_tokens ?? null;
  // Parts of the reported total, if there is one; else all there is.
  const side = told === null ? 'input' : undefined;
  const minutes = figures.read(divided?.ephemeral_5m_input_tokens, side);
  const hour = figures.read(divided?.ephemeral_1h_input_tokens, side);
  const sum = figures.read(told, 'input');
  // Without a sum that can be read, the division is all there is.
  const rest = told === null || figureIn(told) === null ? 0 : sum - minutes - hour;
  if (rest < 0) {
    figures.flag('usage_inconsistent');
    const cacheWrite5m = Math.min(minutes, minutes + hour + rest);
    return { cacheWrite5m, cacheWrite1h: minutes + hour + rest - cacheWrite5m };
  }
  const long = rest > 0 && (ask.cachesForHour ?? asksForHour(ask.scan.body));
  return { cacheWrite5m: minutes + (long ? 0 : rest), cacheWrite1h: hour + (long ? rest : 0) };
}

/**
 * The tier that the answer names: its speed, region and service tier; null when it names none. One that says
 * nothing of its speed has the speed that was asked for.
 */
function namedTier(ask: Ask, usage: JsonObject): string | null {
  const speed = textIn(usage.speed) ?? textIn(ask.scan.found.get('speed')?.value);
  const serviceTier = textIn(usage.service_tier);
  return tierOf(speed, textIn(usage.inference_geo), serviceTier) ?? speed ?? serviceTier;
}

/**
 * Usage reported at a stream's start, overridden by a later object: by every field of it that is not null, also by
 * lower values.
 */
export function foldUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const told = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  const folded: Record<string, unknown> = { ...earlier, ...Object.fromEntries(told) };
  const { cache_creation: divided, cache_creation_input_tokens: written } = Object.fromEntries(told);
  // A lower total reported later overrides the start's division.
  if (divided === undefined && written !== undefined && (figureIn(written) ?? 0) < dividedSum(earlier)) {
    delete folded.cache_creation;
  }
  return folded;
}

function dividedSum(usage: JsonObject): number {
  const divided = objectIn(usage.cache_creation);
  const { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour } = divided ?? {};
  return (figureIn(minutes) ?? 0) + (figureIn(hour) ?? 0);
}
