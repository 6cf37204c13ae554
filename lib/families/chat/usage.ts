import { createFigures, type Figures } from '#lib/families/reading/figures';
import { type JsonObject, objectIn, textIn } from '#lib/families/reading/json';
import { type Usage, type UsageReport, usageOf } from '#lib/metering/usage';

/** The usage object of a chat answer or chunk, wherever the dialect puts it; null: none. */
export function usageObject(answer: JsonObject): JsonObject | null {
  return objectIn(answer.usage) ?? objectIn(objectIn(answer.x_groq)?.usage);
}

/** Usage of a whole chat answer; null when it has none. */
export function readChatUsage(answer: unknown): UsageReport | null {
  const body = objectIn(answer);
  const usage = body && usageObject(body);
  return usage ? reportOf(usage, textIn(body.service_tier)) : null;
}

const totals = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

/** @returns null for an object without any of the three totals: it reports nothing, which is not the same as zero. */
export function reportOf(usage: JsonObject, serviceTier: string | null): UsageReport | null {
  if (totals.every((name) => (usage[name] ?? null) === null)) return null;
  const figures = createFigures();
  return { usage: usageFrom(usage, figures), serviceTier, nested: [], flags: figures.flags };
}

function usageFrom(usage: JsonObject, figures: Figures): Usage {
  const into = objectIn(usage.prompt_tokens_details) ?? {};
  const out = objectIn(usage.completion_tokens_details) ?? {};
  const completion = figures.read(usage.completion_tokens);
  const total = figures.read(usage.total_tokens);
  const audio = figures.read(into.audio_tokens);
  // Some report only one of a cached figure's three places, some two of them with the same number.
  const cachedInput = Math.max(
    figures.read(into.cached_tokens),
    figures.read(usage.cached_tokens),
    figures.read(usage.prompt_cache_hit_tokens),
    figures.read(usage.num_cached_tokens),
  );
  const cacheWrite5m = figures.read(into.cache_write_tokens);
  const reasoning = figures.read(out.reasoning_tokens ?? usage.reasoning_tokens);
  const told = figures.read(usage.prompt_tokens);
  const prompt = told + audioOutside(told, { audio, completion, total, reasoning });
  const rest = prompt - cachedInput - cacheWrite5m;
  if (rest < 0) figures.flag('usage_inconsistent');
  const input = Math.max(0, rest);
  const audioInput = Math.min(audio, input);
  return usageOf({
    input,
    cachedInput,
    cacheWrite5m,
    // Dialects that hide reasoning from `completion_tokens` still count it in the total.
    output: Math.max(completion, total - prompt),
    reasoning,
    audioInput,
    imageInput: Math.min(figures.read(into.image_tokens), input - audioInput),
    audioOutput: figures.read(out.audio_tokens),
    imageOutput: figures.read(out.image_tokens),
    webSearches: searches(usage, figures),
  });
}

/** One dialect counts audio separately from the prompt: then only the sum of all three is the total. */
function audioOutside(
  prompt: number,
  {
    audio,
    completion,
    total,
    reasoning,
  }: Readonly<Record<'audio' | 'completion' | 'total' | 'reasoning', number>>,
): number {
  if (audio === 0) return 0;
  const beside = reasoning === 0 && total === prompt + completion + audio;
  return beside || audio > prompt ? audio : 0;
}

/** Searches that the provider ran, where it reports them. */
function searches(usage: JsonObject, figures: Figures): number {
  const tools = objectIn(usage.server_tool_use);
  return figures.read(tools?.web_search_requests ?? usage.num_search_queries);
}
