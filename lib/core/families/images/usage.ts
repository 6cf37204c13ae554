import type { Ask } from '#lib/core/families/family';
import { Figures } from '#lib/core/families/reading/figures';
import { type JsonObject, listIn, objectIn, textIn } from '#lib/core/families/reading/json';
import { type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

const totals = ['input_tokens', 'output_tokens', 'total_tokens'] as const;

/**
 * Usage of a whole answer: the tokens that it reports and the images that it contains, so that a price by
 * token and one by image both find their figure. null: neither.
 */
export function readImagesUsage(ask: Ask, answer: unknown): UsageReport | null {
  const body = objectIn(answer);
  if (body === null) return null;
  const figures = new Figures();
  const usage = tokensOf(body, figures);
  usage.images = listIn(body.data).length;
  const svg = svgUsage(body, figures);
  if (!usage.images && !hasTokens(body) && !svg) return null;
  return {
    usage,
    serviceTier: textIn(body.service_tier),
    nested: svg ? [svg] : [],
    units: unitsOf(ask, body),
    ...figures.marks(),
  };
}

/** Whether an answer or event reports tokens at all: one dialect reports only what it costs. */
function hasTokens(body: JsonObject): boolean {
  const usage = objectIn(body.usage);
  return usage !== null && totals.some((name) => (usage[name] ?? null) !== null);
}

/**
 * Tokens of an answer or of one completed event. Text and image are parts of both totals; without
 * details all of the output is image (contract: families/image-tokens).
 */
export function tokensOf(body: JsonObject, figures: Figures): Usage {
  const usage = objectIn(body.usage) ?? {};
  const into = objectIn(usage.input_tokens_details) ?? {};
  const out = objectIn(usage.output_tokens_details);
  const cachedInput = figures.read(into.cached_tokens);
  const rest = figures.read(usage.input_tokens, 'input') - cachedInput;
  if (rest < 0) figures.flag('usage_inconsistent');
  const input = Math.max(0, rest);
  const output = figures.read(usage.output_tokens, 'output');
  return usageOf({
    input,
    cachedInput,
    imageInput: Math.min(figures.read(into.image_tokens), input),
    output,
    imageOutput: out ? Math.min(figures.read(out.image_tokens), output) : output,
  });
}

/** What the model that wrote a vector graphic used, in addition to the images' own usage. */
export function svgUsage(
  body: JsonObject,
  figures: Figures,
): { readonly upstreamModel: string; readonly usage: Usage } | null {
  const told = objectIn(body.svg_usage);
  const upstreamModel = textIn(told?.model);
  if (told === null || upstreamModel === null) return null;
  const output = figures.read(told.output_tokens);
  return {
    upstreamModel,
    usage: usageOf({
      input: figures.read(told.input_tokens),
      output,
      reasoning: Math.min(figures.read(told.reasoning_tokens), output),
    }),
  };
}

/** Entries of a price by size and quality: as the answer names them, else as they were asked for. */
export function unitsOf(ask: Ask, body: JsonObject): readonly string[] {
  const said = (name: 'size' | 'quality') =>
    concrete(textIn(body[name])) ?? concrete(textIn(ask.scan.found.get(name)?.value));
  const [size, quality] = [said('size'), said('quality')];
  return [size !== null && quality !== null ? `${size}/${quality}` : null, size, quality].filter(
    (unit) => unit !== null,
  );
}

/** `auto` leaves it to the provider, and says nothing. */
function concrete(value: string | null): string | null {
  return value === 'auto' ? null : value;
}
