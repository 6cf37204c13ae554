import type { Ask } from '#lib/core/families/family';
import { Figures } from '#lib/core/families/reading/figures';
import { type JsonObject, objectIn, textIn } from '#lib/core/families/reading/json';
import { explained } from '#lib/core/families/reading/remainder';
import { searchesIn } from '#lib/core/families/reading/searches';
import { type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

/** The usage object of a chat answer or chunk, wherever the dialect puts it; null: none. */
export function usageObject(answer: JsonObject): JsonObject | null {
  return objectIn(answer.usage) ?? objectIn(objectIn(answer.x_groq)?.usage);
}

/** Usage of a whole chat answer; null when it has none. */
export function readChatUsage(ask: Ask, answer: unknown): UsageReport | null {
  const body = objectIn(answer);
  const usage = body && usageObject(body);
  return usage ? reportOf(usage, textIn(body.service_tier), hidesThinking(ask, body)) : null;
}

const hiding = /(^|\/)gemini-/;

/**
 * Whether an answer's total may have thinking that no figure shows (contract: money/unexplained-total): so does one
 * dialect, whose total also has what tools put in front of the model.
 */
export function hidesThinking({ serverTools }: Pick<Ask, 'serverTools'>, { model }: JsonObject): boolean {
  return serverTools !== true && typeof model === 'string' && hiding.test(model);
}

const totals = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

/**
 * @param hidden the dialect hides thinking from its output figure and reports no other.
 * @returns null for an object without any of the three totals: it reports nothing, which is not the same as zero.
 */
export function reportOf(usage: JsonObject, serviceTier: string | null, hidden: boolean): UsageReport | null {
  if (totals.every((name) => (usage[name] ?? null) === null)) return null;
  const figures = new Figures();
  return { usage: usageFrom(usage, figures, hidden), serviceTier, nested: [], ...figures.marks() };
}

function usageFrom(usage: JsonObject, figures: Figures, hidden: boolean): Usage {
  const into = objectIn(usage.prompt_tokens_details) ?? {};
  const out = objectIn(usage.completion_tokens_details) ?? {};
  const prompt = figures.read(usage.prompt_tokens, 'input');
  const completion = figures.read(usage.completion_tokens, 'output');
  const audio = figures.read(into.audio_tokens);
  // Some report only one of a cached figure's three places, some two of them with the same number.
  const cachedInput = Math.max(
    figures.read(into.cached_tokens),
    figures.read(usage.cached_tokens),
    figures.read(usage.prompt_cache_hit_tokens),
    figures.read(usage.num_cached_tokens),
  );
  const cacheWrite5m = figures.read(into.cache_write_tokens);
  const toolUse = figures.read(usage.tool_use_prompt_tokens ?? into.tool_use_prompt_tokens);
  const reasoning = figures.read(out.reasoning_tokens ?? usage.reasoning_tokens);
  const beside = explained(
    { input: usage.prompt_tokens, output: usage.completion_tokens, total: usage.total_tokens },
    { reasoning, cached: cachedInput, written: cacheWrite5m, audio, toolUse },
    figures,
    hidden,
  );
  // One dialect counts audio separately from the prompt even if it reports no total.
  const audioBeside = beside.audio || (audio > prompt ? audio : 0);
  const rest =
    prompt + beside.cached + beside.written + audioBeside + beside.toolUse - cachedInput - cacheWrite5m;
  if (rest < 0) figures.flag('usage_inconsistent');
  const input = Math.max(0, rest);
  const audioInput = Math.min(audio, input);
  return usageOf({
    input,
    cachedInput,
    cacheWrite5m,
    output: completion + beside.reasoning,
    reasoning: Math.max(reasoning, beside.reasoning),
    audioInput,
    imageInput: Math.min(figures.read(into.image_tokens), input - audioInput),
    audioOutput: figures.read(out.audio_tokens),
    imageOutput: figures.read(out.image_tokens),
    webSearches: searchesIn(usage, figures) ?? figures.readCount(usage.num_search_queries),
  });
}
