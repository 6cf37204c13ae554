import type { Ask } from '#lib/core/families/family';
import { outputTokensOf } from '#lib/core/families/images/tokens';
import { Figures, figureIn } from '#lib/core/families/reading/figures';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';
import { explained } from '#lib/core/families/reading/remainder';
import { searchesIn } from '#lib/core/families/reading/searches';
import { type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

const totals = ['input_tokens', 'output_tokens', 'total_tokens'] as const;

/**
 * Usage of a response object; null while it has none. Cached and newly cached tokens are parts of the
 * input, reasoning is a part of the output; what tools used is counted in addition to both.
 * @param imageModel what the request calls the model of its image tool; null: it names none.
 */
export function usageOfResponse(answer: unknown, imageModel: string | null): UsageReport | null {
  const response = objectIn(answer);
  const usage = objectIn(response?.usage);
  if (!response || !usage || totals.every((name) => (usage[name] ?? null) === null)) return null;
  const figures = new Figures();
  const own = ownUsage(usage, figures);
  own.webSearches = searchesOf(response, usage, figures);
  const images = imageUsage(response, figures);
  return {
    usage: own,
    serviceTier: textIn(response.service_tier),
    nested: images ? [{ upstreamModel: imageModelOf(response, imageModel), usage: images }] : [],
    ...figures.marks(),
  };
}

function ownUsage(usage: JsonObject, figures: Figures): Usage {
  const into = objectIn(usage.input_tokens_details);
  const out = objectIn(usage.output_tokens_details);
  const cachedInput = figures.read(into?.cached_tokens);
  const cacheWrite5m = figures.read(into?.cache_write_tokens);
  const told = figures.read(out?.reasoning_tokens);
  const beside = explained(
    { input: usage.input_tokens, output: usage.output_tokens, total: usage.total_tokens },
    { reasoning: told, cached: cachedInput, written: cacheWrite5m, audio: 0, toolUse: 0 },
    figures,
  );
  const input = figures.read(usage.input_tokens, 'input') + beside.cached + beside.written;
  const rest = input - cachedInput - cacheWrite5m;
  if (rest < 0) figures.flag('usage_inconsistent');
  const output = figures.read(usage.output_tokens, 'output') + beside.reasoning;
  return usageOf({
    input: Math.max(0, rest),
    cachedInput,
    cacheWrite5m,
    output,
    reasoning: Math.min(told, output),
  });
}

/** Searches that are billed: as reported, else the calls that searched and did not only open a page. */
function searchesOf(response: JsonObject, usage: JsonObject, figures: Figures): number {
  const told = objectIn(objectIn(response.tool_usage)?.web_search)?.num_requests ?? null;
  if (told !== null) return figures.readCount(told);
  const reported = searchesIn(usage, figures);
  if (reported !== null) return reported;
  return listIn(response.output).filter((value) => {
    const item = objectIn(value);
    return item?.type === 'web_search_call' && objectIn(item.action)?.type === 'search';
  }).length;
}

/**
 * What the image tool used; null: nothing. An answer that reports no tokens of it is counted in pictures; tokens that
 * cannot be read are those that its pictures usually take.
 */
function imageUsage(response: JsonObject, figures: Figures): Usage | null {
  const told = objectIn(objectIn(response.tool_usage)?.image_gen);
  const pictures = listIn(response.output)
    .map(objectIn)
    .filter((item) => item?.type === 'image_generation_call');
  const made = pictures.length;
  if (!told) return made > 0 ? usageOf({ images: made }) : null;
  const into = objectIn(told.input_tokens_details);
  const out = objectIn(told.output_tokens_details);
  const cached = objectIn(told.cached_tokens_details);
  const cachedInput = figures.read(told.cached_tokens);
  const reported = figures.read(told.input_tokens);
  const usual = usualTokens(pictures);
  const input = figureIn(told.input_tokens) === null ? usual.input : Math.max(0, reported - cachedInput);
  const written = figures.read(told.output_tokens);
  const output = figureIn(told.output_tokens) === null ? usual.output : written;
  if (input + cachedInput + output === 0) return null;
  const freshImages = figures.read(into?.image_tokens) - figures.read(cached?.cached_image_tokens);
  return usageOf({
    input,
    cachedInput,
    imageInput: Math.min(Math.max(0, freshImages), input),
    output,
    // Without details all that an image tool makes is image.
    imageOutput: out ? Math.min(figures.read(out.image_tokens), output) : output,
    images: made,
  });
}

/** What an image tool is asked with for one picture. */
const ASKED_TOKENS = 512;

/** Of at least one picture. */
function usualTokens(pictures: readonly (JsonObject | null)[]): Record<'input' | 'output', number> {
  const drawn = pictures.length === 0 ? [null] : pictures;
  const outputs = drawn.map((item) => outputTokensOf(textIn(item?.size), textIn(item?.quality)));
  return { input: ASKED_TOKENS * drawn.length, output: outputs.reduce((sum, one) => sum + one, 0) };
}

/** What a request calls the model of its image tool; null: it names none. */
export function imageModelIn({ nested }: Ask): string | null {
  return nested?.[0]?.slug ?? null;
}

/** What the vendor's image tool uses if no model is named. */
const DEFAULT_IMAGE_MODEL = 'gpt-image-2';

/** The tool's model as the answer repeats it, else as it was asked for, else the vendor's default. */
function imageModelOf(response: JsonObject, asked: string | null): string {
  const tools = listIn(response.tools).map(objectIn);
  const tool = tools.find((one) => one?.type === 'image_generation' && textIn(one.model) !== null);
  return textIn(tool?.model) ?? asked ?? DEFAULT_IMAGE_MODEL;
}
