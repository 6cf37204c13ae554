import { type Usage, type UsageReport, usageClasses, usageOf, usageParts } from '#lib/core/metering/usage';

/** The sizes of a model, which bound the usage that a provider may report for one call. */
export interface UsageBounds {
  /** Tokens; 0: unknown, which bounds nothing. */
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** The longest audio that the call can have made or read, ms; absent: unknown. */
  readonly mostAudioMs?: number | undefined;
  /** What it makes; of a model without text, the context is only that of its prompt. Absent: text. */
  readonly output?: readonly string[];
}

/** A report to charge by, and flags for the corrections in it. */
export interface BoundedReport {
  readonly report: UsageReport;
  /** `usage_anomaly`: a figure exceeded its bound. `usage_negative`: one was negative or not an integer. */
  readonly flags: readonly string[];
}

/** Most passes of the model assumed for one call when the provider runs tools or lists iterations. */
const MOST_PASSES = 10;

const inputClasses = ['input', 'cachedInput', 'cacheWrite5m', 'cacheWrite1h'] as const;
const pieceClasses = ['images', 'videoSeconds', 'webSearches'] as const;

interface Limits {
  /** Of all input together: uncached, cached, written to the cache. Tokens. */
  readonly input: number;
  readonly output: number;
  readonly pieces: number;
  readonly audioMs: number;
}

/**
 * The report to charge by (contract: money/usage-bounds): figures above what the model can produce are reduced to
 * that, negative or fractional ones to 0. The given report is not changed: the call log keeps what the provider
 * reported.
 * @param choices `n` of the request.
 * @param serverTools the request declares tools that the provider runs, so the model may read many times.
 */
export function boundUsage(
  report: UsageReport,
  model: UsageBounds,
  choices: number,
  serverTools: boolean,
): BoundedReport {
  const { nested } = report;
  const many = serverTools || report.iterated === true;
  const own = limitsOf(model, choices, many ? MOST_PASSES : 1);
  const { kept } = report;
  const keepsMore = kept !== undefined && kept.tokens > own.input;
  if (nested.length === 0 && !keepsMore && isWithin(report.usage, own)) return { report, flags: noFlags };
  const flags = new Set<string>(keepsMore ? ['usage_anomaly'] : []);
  const usage = bounded(report.usage, own, flags);
  // A nested model's own sizes may be unknown; it is another pass over the same call.
  const others = limitsOf(model, choices, MOST_PASSES);
  const parts = nested.map((part) => ({ ...part, usage: bounded(part.usage, others, flags) }));
  if (flags.size === 0) return { report, flags: noFlags };
  const most = keepsMore ? { kept: { ...kept, tokens: own.input } } : {};
  return { report: { ...report, ...most, usage, nested: parts }, flags: [...flags] };
}

const noFlags: readonly string[] = [];

function limitsOf(model: UsageBounds, choices: number, passes: number): Limits {
  const most = model.maxOutputTokens * Math.max(1, choices);
  const pieces = MOST_PASSES * (model.contextTokens + most);
  const counts = model.output === undefined || model.output.includes('text') || readsMany(model);
  return {
    input: counts ? tenthMore(contextOf(model) * passes) : orUnbounded(pieces),
    output: counts ? tenthMore(most * passes) : orUnbounded(pieces),
    pieces: orUnbounded(pieces),
    audioMs: model.mostAudioMs ?? Number.MAX_SAFE_INTEGER,
  };
}

/** Most inputs of a request for embeddings or scores; each may fill the context. */
const MOST_INPUTS = 2_048;

/** Most tokens that a model reads in one pass over a request; 0: unknown. */
export function contextOf(model: UsageBounds): number {
  return model.contextTokens * (readsMany(model) ? MOST_INPUTS : 1);
}

function readsMany({ output }: UsageBounds): boolean {
  return output?.some((one) => one === 'embedding' || one === 'scores') === true;
}

function tenthMore(tokens: number): number {
  return orUnbounded(Math.floor((tokens * 11) / 10));
}

function orUnbounded(figure: number): number {
  return figure === 0 ? Number.MAX_SAFE_INTEGER : figure;
}

/** Whether all figures can be charged as they are. Written without loops because it runs on every call. */
function isWithin(usage: Usage, limits: Limits): boolean {
  const { input, output, images, videoSeconds, webSearches } = usage;
  const { audioInput, imageInput, reasoning, audioOutput, imageOutput } = usage;
  return (
    areCounts(input, usage.cachedInput, usage.cacheWrite5m) &&
    areCounts(usage.cacheWrite1h, output, reasoning) &&
    areCounts(audioInput, imageInput, audioOutput) &&
    areCounts(imageOutput, images, videoSeconds) &&
    areCounts(webSearches, usage.characters, usage.audioMs) &&
    areCounts(usage.cachedAudioInput, usage.cachedImageInput, 0) &&
    usage.audioMs <= limits.audioMs &&
    inputOf(usage) <= limits.input &&
    output <= limits.output &&
    Math.max(audioInput, imageInput, usage.cachedAudioInput, usage.cachedImageInput) <= limits.input &&
    Math.max(reasoning, audioOutput, imageOutput) <= limits.output &&
    Math.max(images, videoSeconds, webSearches) <= limits.pieces
  );
}

function areCounts(one: number, two: number, three: number): boolean {
  return isCount(one) && isCount(two) && isCount(three);
}

function isCount(figure: number): boolean {
  return Number.isInteger(figure) && figure >= 0;
}

function inputOf({ input, cachedInput, cacheWrite5m, cacheWrite1h }: Usage): number {
  return input + cachedInput + cacheWrite5m + cacheWrite1h;
}

/** @param flags receives a flag for each kind of correction. */
function bounded(usage: Usage, limits: Limits, flags: Set<string>): Usage {
  if (isWithin(usage, limits)) return usage;
  const kept = { ...usage };
  for (const name of usageClasses) {
    if (isCount(kept[name])) continue;
    kept[name] = 0;
    flags.add('usage_negative');
  }
  const cap = (name: keyof Usage, most: number) => {
    if (kept[name] <= most) return;
    kept[name] = most;
    flags.add('usage_anomaly');
  };
  for (const name of inputClasses) cap(name, limits.input);
  // The largest figure is the least credible, so it is reduced first.
  for (const name of [...inputClasses].sort((one, other) => kept[other] - kept[one])) {
    const excess = inputOf(kept) - limits.input;
    if (excess > 0) cap(name, Math.max(0, kept[name] - excess));
  }
  cap('output', limits.output);
  for (const name of pieceClasses) cap(name, limits.pieces);
  cap('audioMs', limits.audioMs);
  for (const parent of ['input', 'cachedInput', 'output'] as const) {
    for (const part of usageParts[parent]) kept[part] = Math.min(kept[part], kept[parent]);
  }
  return kept;
}

/** The record of a charged call or job. */
interface Charged {
  /** As the provider reported it. */
  readonly usage: Usage;
  readonly lines: readonly { readonly class: string; readonly quantity: number }[];
  readonly flags: readonly string[];
}

/**
 * The usage that counts outside the call log (TPM, usage totals, the offer's speed): the charged quantities if a
 * reported figure was reduced; else what the provider reported (contract: money/usage-bounds).
 */
export function meteredUsage({ usage, lines, flags }: Charged): Usage {
  if (flags.length === 0 || !flags.includes('usage_anomaly')) return usage;
  const metered = usageOf({});
  for (const line of lines) {
    for (const name of countedIn[line.class.split(':')[0] ?? ''] ?? []) metered[name] += line.quantity;
  }
  metered.reasoning = Math.max(metered.reasoning, Math.min(usage.reasoning, metered.output));
  return metered;
}

/** The usage figures to which a line's quantity contributes, by class of the line. */
const countedIn: Readonly<Record<string, readonly (keyof Usage)[]>> = {
  input: ['input'],
  audioInput: ['input', 'audioInput'],
  imageInput: ['input', 'imageInput'],
  cachedInput: ['cachedInput'],
  cachedAudioInput: ['cachedInput', 'cachedAudioInput'],
  cachedImageInput: ['cachedInput', 'cachedImageInput'],
  cacheWrite5m: ['cacheWrite5m'],
  cacheWrite1h: ['cacheWrite1h'],
  output: ['output'],
  reasoning: ['output', 'reasoning'],
  audioOutput: ['output', 'audioOutput'],
  imageOutput: ['output', 'imageOutput'],
  image: ['images'],
  videoSecond: ['videoSeconds'],
  webSearch: ['webSearches'],
  characters: ['characters'],
  audioMs: ['audioMs'],
};
