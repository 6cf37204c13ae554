import { abilitiesOf } from '#lib/core/facts/abilities';
import type { ModelFacts } from '#lib/core/facts/snapshot';
import type { Rates } from '#lib/core/metering/price-list';

/** Rates are nano-dollars per million units, so dollars per unit have this many decimals. */
const DECIMALS = 15;

/**
 * An entry that clients of the chat family, of the messages family and of OpenRouter read alike
 * (contract: families/list-shape, families/entry-facts). A figure that the catalogue does not know (0) is null.
 * @param model its offers are those that can be routed to; the first one's price is shown.
 */
export function sharedEntry(model: ModelFacts): object {
  const price = model.offers.find((offer) => offer.price !== null)?.price;
  const known = abilitiesOf(model.offers);
  return {
    id: model.id,
    object: 'model',
    created: Math.floor(model.createdAtMs / 1000),
    owned_by: ownerOf(model),
    type: 'model',
    name: model.name,
    display_name: model.name,
    created_at: new Date(model.createdAtMs).toISOString(),
    ...lifecycleOf(model),
    context_length: model.contextTokens || null,
    max_input_tokens: model.contextTokens || null,
    max_tokens: model.maxOutputTokens || null,
    architecture: {
      input_modalities: modalities(model.input),
      output_modalities: modalities(model.output),
    },
    ...(Object.keys(known).length > 0 && { abilities: known }),
    ...(price ? { pricing: pricingOf(price.price.base) } : {}),
  };
}

/** As Anthropic's list says it: a model that all of its providers will stop serving is deprecated. */
function lifecycleOf({ offers }: ModelFacts): object {
  const ends = offers.flatMap(({ servedUntilMs }) => (servedUntilMs === null ? [] : [servedUntilMs]));
  if (ends.length === 0 || ends.length < offers.length) return { lifecycle: 'active', retires_at: null };
  return { lifecycle: 'deprecated', retires_at: new Date(Math.max(...ends)).toISOString() };
}

/** An entry of the generate-content family. */
export function contentEntry(model: ModelFacts): object {
  return {
    name: `models/${model.id}`,
    version: 'default',
    displayName: model.name,
    description: `${model.name} (${model.id})`,
    inputTokenLimit: model.contextTokens,
    outputTokenLimit: model.maxOutputTokens,
    supportedGenerationMethods: methodsOf(model),
  };
}

/** The vendor in front of the slug's slash, else the first provider. */
function ownerOf(model: ModelFacts): string {
  const slash = model.id.indexOf('/');
  return slash > 0 ? model.id.slice(0, slash) : (model.offers[0]?.provider.id ?? 'unknown');
}

/** Methods of the families of Google's API. */
function methodsOf(model: ModelFacts): readonly string[] {
  if (model.output.includes('embedding')) return ['embedContent', 'batchEmbedContents'];
  return model.output.includes('video') ? ['predictLongRunning'] : ['generateContent', 'countTokens'];
}

/** Names of modalities as OpenRouter uses them: a PDF is a file. */
function modalities(kinds: readonly string[]): readonly string[] {
  return [...new Set(kinds.map((kind) => (kind === 'pdf' ? 'file' : kind)))];
}

/** Dollars per token or unit as exact decimal strings; a class without a price of its own is left out. */
function pricingOf(rates: Rates): Readonly<Record<string, string>> {
  const { input = 0n, output = 0n, cachedInput, cacheWrite5m, image, request, webSearch } = rates;
  const { characters, audioMs } = rates;
  const classes = {
    prompt: input,
    completion: output,
    input_cache_read: cachedInput,
    input_cache_write: cacheWrite5m,
    image: typeof image === 'object' ? image.default : image,
    request,
    web_search: webSearch,
    character: characters,
    audio_second: audioMs === undefined ? undefined : audioMs * 1000n,
  };
  return Object.fromEntries(
    Object.entries(classes).flatMap(([name, rate]) => (rate === undefined ? [] : [[name, perUnit(rate)]])),
  );
}

function perUnit(rate: bigint): string {
  const digits = rate.toString().padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -DECIMALS) : `${digits.slice(0, -DECIMALS)}.${fraction}`;
}
