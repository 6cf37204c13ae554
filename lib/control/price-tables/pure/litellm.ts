import { canonNamed, prefixesOf } from '#lib/control/price-tables/pure/canon';
import { priceText } from '#lib/control/price-tables/pure/decimal';
import {
  dayOf,
  isUsableName,
  membersOf,
  type PriceTable,
  type TableEntry,
  textOf,
  tokensOf,
  UnknownFields,
} from '#lib/control/price-tables/pure/table';
import { memberOf } from '#lib/core/families/reading/json';
import type { FilePrice } from '#lib/core/schemas/price';

/** Keys that are no models: an explanation of the form, and rules for names. */
const noModels: ReadonlySet<string> = new Set(['sample_spec', 'fallback_generalizations']);

/** Dollars for one token; "…_above_200k_tokens" and "…_flex" follow them. */
const tokenRates: Readonly<Record<string, keyof FilePrice>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  output_cost_per_reasoning_token: 'reasoning',
  cache_read_input_token_cost: 'cachedInput',
  input_cost_per_token_cache_hit: 'cachedInput',
  cache_creation_input_token_cost: 'cacheWrite5m',
  cache_creation_input_token_cost_above_1hr: 'cacheWrite1h',
  input_cost_per_audio_token: 'audioInput',
  output_cost_per_audio_token: 'audioOutput',
  input_cost_per_image_token: 'imageInput',
  output_cost_per_image_token: 'imageOutput',
};

/** Rates of one mode only, where they mean the whole price. */
const modeRates: Readonly<
  Record<string, Readonly<Record<string, readonly [keyof FilePrice, number, bigint]>>>
> = {
  image_generation: { output_cost_per_image: ['image', 0, 1n], input_cost_per_image: ['image', 0, 1n] },
  video_generation: {
    output_cost_per_second: ['videoSecond', 0, 1n],
    output_cost_per_video_per_second: ['videoSecond', 0, 1n],
  },
  audio_transcription: { input_cost_per_second: ['audioHour', 0, 3_600n] },
  audio_speech: { input_cost_per_character: ['characters', 6, 1n] },
};

const kinds: Readonly<Record<string, TableEntry['kind']>> = {
  chat: 'text',
  responses: 'text',
  completion: 'text',
  embedding: 'embeddings',
  rerank: 'rerank',
};

/** What says nothing about the price of a call. */
const besideFields =
  /^(supports_|max_|supported_|bedrock_|gemini_|default_|prompt_cache_|litellm_provider$|mode$|source$|metadata$|comment$|notes?$|deprecation_date$|output_vector_size$|tool_use_system_prompt_tokens$|rpm$|tpm$|tpd$|rpd$|audio_transcription_config$|audio_seconds_per_prediction$|provider_specific_entry$|use_in_pass_through$|web_search_billing_unit$|.*_reasoning_effort$|tokenizer$|.*_endpoint$)/;
/** Prices of batches and of tools that the gateway does not bill. */
const unbilledFields =
  /(_batches$|^(code_interpreter|file_search|vector_store|computer_use|google_maps|annotation|citation|guardrail)_)/;

/**
 * Reads LiteLLM's `model_prices_and_context_window.json`: models by name, each with its provider and prices of one token.
 * Pure.
 */
export function readLitellm(document: unknown): PriceTable {
  const unknown = new UnknownFields();
  const entries = new Map<string, TableEntry>();
  let others = 0;
  for (const [key, model] of membersOf(document)) {
    if (noModels.has(key)) continue;
    const provider = textOf(memberOf(model, 'litellm_provider'));
    const canon = provider === null ? null : canonNamed('litellm', provider);
    if (canon === null) {
      others += 1;
      continue;
    }
    const upstreamModel = withoutPrefix(key, canon);
    if (!isUsableName(upstreamModel)) continue;
    const entry = entryOf(canon, upstreamModel, model, unknown);
    const place = `${canon} ${upstreamModel}`;
    const other = entries.get(place);
    if (other === undefined) entries.set(place, entry);
    else if (JSON.stringify(other.price) !== JSON.stringify(entry.price))
      entries.set(place, { ...other, unread: [...other.unread, `another price under ${key.slice(0, 100)}`] });
  }
  return { id: 'litellm', entries: [...entries.values()], unknown: unknown.list(), others };
}

function withoutPrefix(key: string, canon: string): string {
  const prefix = prefixesOf(canon).find((name) => key.startsWith(`${name}/`));
  return prefix === undefined ? key : key.slice(prefix.length + 1);
}

function entryOf(
  provider: string,
  upstreamModel: string,
  model: unknown,
  unknown: UnknownFields,
): TableEntry {
  const unread: string[] = [];
  const mode = textOf(memberOf(model, 'mode')) ?? 'chat';
  const maxOutputTokens = tokensOf(memberOf(model, 'max_output_tokens'));
  return {
    provider,
    upstreamModel,
    name: null,
    line: null,
    kind: kinds[mode] ?? 'other',
    contextTokens: tokensOf(memberOf(model, 'max_input_tokens')) ?? tokensOf(memberOf(model, 'max_tokens')),
    maxOutputTokens,
    input: inputOf(model),
    reasoning: memberOf(model, 'supports_reasoning') === true,
    released: null,
    retires: dayOf(memberOf(model, 'deprecation_date')),
    deprecated: false,
    price: priceOf(model, { mode, upstreamModel }, unknown, unread),
    unread,
  };
}

function inputOf(model: unknown): TableEntry['input'] {
  const has = (name: string) => memberOf(model, name) === true;
  return [
    'text' as const,
    ...(has('supports_vision') || has('supports_image_input') ? (['image'] as const) : []),
    ...(has('supports_audio_input') ? (['audio'] as const) : []),
    ...(has('supports_video_input') ? (['video'] as const) : []),
    ...(has('supports_pdf_input') ? (['pdf'] as const) : []),
  ];
}

/** Where the rate of a field belongs: the service tier and the length of input above which it applies. */
interface RatePlace {
  readonly rate: keyof FilePrice;
  readonly above: number;
  readonly tier: string;
}

const rateName =
  /^(?<name>[a-z_]+?(?:_above_1hr)?)(?:_above_(?<thousands>\d{1,5})k_tokens)?(?:_(?<tier>flex|priority))?$/;

function placeOf(field: string): RatePlace | null {
  const { name = '', thousands = '0', tier = '' } = rateName.exec(field)?.groups ?? {};
  const rate = Object.hasOwn(tokenRates, name) ? tokenRates[name] : undefined;
  return rate === undefined ? null : { rate, above: Number(thousands) * 1000, tier };
}

type Band = Record<string, string>;

/** @param unread gets what could not be read. @returns null without any rate. */
function priceOf(
  model: unknown,
  { mode, upstreamModel }: { readonly mode: string; readonly upstreamModel: string },
  unknown: UnknownFields,
  unread: string[],
): TableEntry['price'] {
  /** By service tier, then by length of input. */
  const bands = new Map<string, Map<number, Band>>();
  const set = ({ rate, above, tier }: RatePlace, text: string) => {
    const own = bands.get(tier) ?? new Map<number, Band>();
    bands.set(tier, own.set(above, { ...own.get(above), [rate]: text }));
  };
  for (const [field, value] of membersOf(model)) {
    const place = placeOf(field);
    const special = modeRates[mode]?.[field];
    if (place !== null || special !== undefined) {
      const [rate, shift, times] = special ?? [place?.rate ?? 'input', 6, 1n];
      const text = priceText(value, shift, rate === 'audioHour' ? 6 : 9, times);
      if (text === null) unread.push(field);
      // Models of images and audio have zeros for what they do not charge.
      else if (special === undefined || text !== '0') set(place ?? { rate, above: 0, tier: '' }, text);
      continue;
    }
    if (field === 'search_context_cost_per_query') {
      const texts = membersOf(value).map(([, one]) => priceText(one));
      const [first] = texts;
      if (typeof first === 'string' && texts.every((text) => text === first))
        set({ rate: 'webSearch', above: 0, tier: '' }, first);
      else if (texts.length > 0) unread.push(field);
    } else if (/cost|price|fee/.test(field)) {
      if (unbilledFields.test(field)) continue;
      if (value !== 0) unread.push(field.slice(0, 100));
      if (!knownCosts.test(field)) unknown.note(field, upstreamModel);
    } else if (!besideFields.test(field)) unknown.note(field, upstreamModel);
  }
  const standard = bandOf(bands.get(''));
  if (standard === null || Object.keys(standard).every((name) => beside.has(name))) return null;
  const tiers = [...bands].flatMap(([tier, own]) => {
    const band = tier === '' ? null : bandOf(own);
    return band ? [[tier, band] as const] : [];
  });
  return { ...standard, ...(tiers.length > 0 && { serviceTiers: Object.fromEntries(tiers) }) };
}

/** They price no call by themselves. */
const beside: ReadonlySet<string> = new Set(['webSearch', 'tiers']);

/** Of units that the catalogue has no rate for, or has only for other kinds of models. */
const knownCosts =
  /^(input|output)_(cost_per_(token|character|image|pixel|second|query|request|audio_per_second|video_per_second|audio_token|image_token|reasoning_token)|dbu_cost_per_token)|^cache_(read|creation)_input_(audio_)?token_cost|^ocr_cost|^(input|output)_cost_per_/;

function bandOf(own: ReadonlyMap<number, Band> | undefined): Record<string, unknown> | null {
  const base = own?.get(0);
  if (own === undefined || base === undefined) return null;
  const tiers = [...own]
    .filter(([above]) => above > 0)
    .sort(([one], [other]) => one - other)
    .map(([aboveInputTokens, band]) => ({ aboveInputTokens, ...band }));
  return { ...base, ...(tiers.length > 0 && { tiers }) };
}
