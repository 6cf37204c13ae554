import { Figures } from '#lib/core/families/reading/figures';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';
import { type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

const totals = [
  'promptTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'toolUsePromptTokenCount',
  'totalTokenCount',
];

/** Modalities by name, and by number where a transcoder gives enums so. */
const AUDIO: readonly unknown[] = ['AUDIO', 4];
const IMAGE: readonly unknown[] = ['IMAGE', 2];

/** Tier names that another product of the same provider uses. */
const trafficTiers: ReadonlyMap<unknown, string> = new Map([
  ['ON_DEMAND_PRIORITY', 'priority'],
  ['ON_DEMAND_FLEX', 'flex'],
]);

/** Usage of a whole answer, or of the elements of an array of them; null when it has none. */
export function readContentUsage(answer: unknown): UsageReport | null {
  const chunks = Array.isArray(answer) ? answer : [answer];
  let usage: JsonObject | null = null;
  const searches = new Set<string>();
  for (const value of chunks) {
    const chunk = objectIn(value);
    if (chunk === null) continue;
    usage = usageObject(chunk) ?? usage;
    for (const query of searchesIn(chunk)) searches.add(query);
  }
  return usage && reportOf(usage, searches.size);
}

/** The usage object of an answer or chunk; null for one without any figure: that is unknown, not zero. */
export function usageObject(chunk: JsonObject): JsonObject | null {
  const usage = objectIn(chunk.usageMetadata);
  return usage && totals.some((name) => (usage[name] ?? null) !== null) ? usage : null;
}

export function reportOf(usage: JsonObject, webSearches: number): UsageReport {
  const figures = new Figures();
  const read = usageFrom(usage, figures);
  return { usage: { ...read, webSearches }, serviceTier: tierOf(usage), nested: [], ...figures.marks() };
}

/**
 * Cached tokens are part of the prompt; thoughts and the input from tools are counted in addition to
 * candidates and prompt. Details need not add up: what they leave out is text.
 */
function usageFrom(usage: JsonObject, figures: Figures): Usage {
  const prompt = figures.read(usage.promptTokenCount, 'input');
  const tools = figures.read(usage.toolUsePromptTokenCount, 'input');
  const cachedInput = figures.read(usage.cachedContentTokenCount);
  const candidates = figures.read(usage.candidatesTokenCount, 'output');
  const reasoning = figures.read(usage.thoughtsTokenCount, 'output');
  const total = figures.read(usage.totalTokenCount);
  const sum = prompt + tools + candidates + reasoning;
  if (cachedInput > prompt || (total > 0 && total !== sum)) figures.flag('usage_inconsistent');
  const input = Math.max(0, prompt - cachedInput) + tools;
  const uncached = (modality: readonly unknown[]) =>
    Math.max(
      0,
      tokensOf(usage.promptTokensDetails, modality, figures) +
        tokensOf(usage.toolUsePromptTokensDetails, modality, figures) -
        cached(modality),
    );
  const cached = (modality: readonly unknown[]) => tokensOf(usage.cacheTokensDetails, modality, figures);
  const cachedAudioInput = Math.min(cached(AUDIO), cachedInput);
  const audioInput = Math.min(uncached(AUDIO), input);
  const audioOutput = Math.min(tokensOf(usage.candidatesTokensDetails, AUDIO, figures), candidates);
  const imageOutput = tokensOf(usage.candidatesTokensDetails, IMAGE, figures);
  return usageOf({
    input,
    cachedInput,
    output: candidates + reasoning,
    reasoning,
    audioInput,
    imageInput: Math.min(uncached(IMAGE), input - audioInput),
    cachedAudioInput,
    cachedImageInput: Math.min(cached(IMAGE), cachedInput - cachedAudioInput),
    audioOutput,
    imageOutput: Math.min(imageOutput, candidates - audioOutput),
  });
}

function tokensOf(details: unknown, modality: readonly unknown[], figures: Figures): number {
  let tokens = 0;
  for (const value of listIn(details)) {
    const detail = objectIn(value);
    if (detail && modality.includes(detail.modality)) tokens += figures.read(detail.tokenCount);
  }
  return tokens;
}

function tierOf(usage: JsonObject): string | null {
  const tier = textIn(usage.serviceTier);
  if (tier !== null) return tier.toLowerCase();
  return trafficTiers.get(usage.trafficType) ?? null;
}

/**
 * The web searches that the provider ran for an answer, by candidate and query: chunks of a stream may
 * repeat them, and empty ones do not count.
 */
export function searchesIn(chunk: JsonObject): readonly string[] {
  return listIn(chunk.candidates).flatMap((value) => {
    const candidate = objectIn(value);
    const queries = listIn(objectIn(candidate?.groundingMetadata)?.webSearchQueries);
    const index = typeof candidate?.index === 'number' ? candidate.index : 0;
    return queries.flatMap((query) => (textIn(query) === null ? [] : [`${index} ${query}`]));
  });
}
