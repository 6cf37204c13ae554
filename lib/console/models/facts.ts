import { showFamily } from '#lib/console/models/family-names';
import {
  familiesOf,
  modelRowOf,
  showAvailability,
  showPrice,
  translatedFamiliesOf,
} from '#lib/console/models/rows';
import { showClass } from '#lib/console/show/cost-line';
import { showSpan } from '#lib/console/show/time';
import { showTokens } from '#lib/console/show/tokens';
import type { ListedModel, ListedOffer } from '#lib/control/catalogue/list';
import type { ListedRate, PriceBand } from '#lib/control/catalogue/price-table';
import type { ModelPerformance } from '#lib/control/operations/catalogue/performance';
import { type Ability, abilities, abilityWords } from '#lib/core/facts/abilities';
import { showCount } from '#lib/core/show-money';

/** Prices of one offer as a table: a row per class, a column per band. */
export interface PriceTable {
  readonly provider: string;
  /** "2 Jul 2026". */
  readonly since: string;
  /** Where the provider publishes it; null: it is only in the operator's own catalogue. */
  readonly source: { readonly href: string; readonly host: string } | null;
  readonly bands: readonly string[];
  readonly rows: readonly { readonly name: string; readonly prices: readonly (string | null)[] }[];
}

/** @param showDate formats a day in the page's zone and language. */
export function priceTableOf(offer: ListedOffer, showDate: (iso: string) => string): PriceTable | null {
  if (offer.price === null) return null;
  const { bands, effectiveAt, source } = offer.price;
  const rows = new Map<string, (string | null)[]>();
  for (const [at, band] of bands.entries()) {
    for (const rate of band.rates) {
      const name = rateName(rate);
      const prices = rows.get(name) ?? bands.map(() => null);
      prices[at] = `${showPrice(rate.usd)}${perUnit[rate.unit]}`;
      rows.set(name, prices);
    }
  }
  return {
    provider: offer.providerName,
    since: showDate(effectiveAt),
    source: source === null ? null : { href: source, host: new URL(source).host },
    bands: bands.map(bandName),
    rows: [...rows].map(([name, prices]) => ({ name, prices })),
  };
}

/** What prices in the table are for, besides a million tokens. */
const perUnit: Record<ListedRate['unit'], string> = {
  'million tokens': '',
  'million tokens an hour': ' an hour',
  'million characters': ' per 1M characters',
  hour: ' an hour',
  one: ' each',
};

function rateName({ class: name, variant }: ListedRate): string {
  return variant === null ? showClass(name) : `${showClass(name)}, ${variant}`;
}

/** "Standard", "Standard, over 200K in", "flex". */
function bandName({ tier, aboveInputTokens }: PriceBand): string {
  const name = tier === 'default' ? 'Standard' : tier;
  return aboveInputTokens === null ? name : `${name}, over ${showTokens(aboveInputTokens)} in`;
}

/** The performance of an offer, formatted; null: no data yet. */
export interface ShownPerformance {
  readonly state: ModelPerformance['offers'][number]['state'];
  readonly calls: string;
  readonly uptime: string | null;
  readonly latency: string | null;
  readonly firstByte: string | null;
  readonly throughput: string | null;
}

function showPerformance(one: ModelPerformance['offers'][number]): ShownPerformance {
  const { uptime, latencyMs, firstByteMs, tokensPerSecond } = one;
  return {
    state: one.state,
    calls: showCount(one.calls),
    uptime: uptime === null ? null : `${(Math.floor(uptime * 10_000) / 100).toFixed(2)}%`,
    latency: latencyMs && `${showSpan(latencyMs.p50)} · ${showSpan(latencyMs.p95)}`,
    firstByte: firstByteMs && `${showSpan(firstByteMs.p50)} · ${showSpan(firstByteMs.p95)}`,
    throughput: tokensPerSecond === null ? null : `${showCount(Math.round(tokensPerSecond))} tok/s`,
  };
}

function saidBy({ abilities: known }: ListedOffer, yes: boolean): readonly Ability[] {
  return abilities.filter((one) => known[one] === yes);
}

/** The offers on a model's page. */
export function offerRowsOf(model: ListedModel, performance: ModelPerformance | null) {
  return model.offers.map((offer) => {
    const measured = performance?.offers.find(({ provider }) => provider === offer.provider);
    return {
      provider: offer.provider,
      name: offer.providerName,
      families: offer.families.map(showFamily),
      /** In words; empty: nothing is known. */
      can: abilityWords(saidBy(offer, true)),
      cannot: [abilityWords(saidBy(offer, false)), ...offer.unserved].filter(Boolean).join(', '),
      available: offer.available,
      availability: showAvailability(offer),
      input: offer.price?.input == null ? null : showPrice(offer.price.input),
      output: offer.price?.output == null ? null : showPrice(offer.price.output),
      performance: measured ? showPerformance(measured) : null,
      /** What the list is sorted by; null: not known. */
      ranks: {
        name: offer.providerName,
        price: offer.price?.input == null ? null : Number(offer.price.input),
        latency: measured?.latencyMs?.p50 ?? null,
        firstByte: measured?.firstByteMs?.p50 ?? null,
        throughput: measured?.tokensPerSecond ?? null,
        uptime: measured?.uptime ?? null,
      },
    };
  });
}
export type OfferRow = ReturnType<typeof offerRowsOf>[number];

type Rank = keyof OfferRow['ranks'];
const rankBy =
  <Name extends Rank>(name: Name) =>
  ({ ranks }: OfferRow) =>
    ranks[name];

/** By what the offers of a model can be sorted. */
export const offerOrders = {
  name: rankBy('name'),
  price: rankBy('price'),
  latency: rankBy('latency'),
  firstByte: rankBy('firstByte'),
  throughput: rankBy('throughput'),
  uptime: rankBy('uptime'),
};

const addresses: Record<string, { readonly path: string; readonly budget: string | null }> = {
  chat: { path: 'POST /v1/chat/completions', budget: 'max_completion_tokens or max_tokens' },
  responses: { path: 'POST /v1/responses', budget: 'max_output_tokens' },
  messages: { path: 'POST /v1/messages', budget: 'max_tokens' },
  images: { path: 'POST /v1/images/generations, /v1/images/edits', budget: null },
  videos: { path: 'POST /v1/videos', budget: null },
  'generate-content': {
    path: 'POST /v1beta/models/{model}:generateContent',
    budget: 'generationConfig.maxOutputTokens',
  },
  completions: { path: 'POST /v1/completions', budget: 'max_tokens' },
  embeddings: { path: 'POST /v1/embeddings', budget: null },
  'embed-content': {
    path: 'POST /v1beta/models/{model}:embedContent, :batchEmbedContents',
    budget: null,
  },
  rerank: { path: 'POST /v1/rerank', budget: null },
  moderations: { path: 'POST /v1/moderations', budget: null },
  speech: { path: 'POST /v1/audio/speech', budget: null },
  transcriptions: { path: 'POST /v1/audio/transcriptions, /v1/audio/translations', budget: null },
  realtime: { path: 'WebSocket /v1/realtime', budget: 'max_output_tokens' },
};

/**
 * How a model can be called: its protocols with their address, budget field and service tiers; translated
 * ones come last.
 */
export function protocolsOf(model: ListedModel) {
  const translated = translatedFamiliesOf(model);
  return [...familiesOf(model), ...translated].map((family) => {
    const offers = model.offers.filter(({ families }) => families.includes(family));
    const tiers = offers.flatMap(({ price }) => price?.bands.map(({ tier }) => tier) ?? []);
    return {
      family,
      name: showFamily(family),
      path: addresses[family]?.path.replace('{model}', model.id) ?? '',
      budget: addresses[family]?.budget ?? null,
      translated: translated.includes(family),
      tiers: [...new Set(tiers)].filter((tier) => tier !== 'default'),
    };
  });
}

/** The facts at the top of a model's page. */
export function modelFactsOf(model: ListedModel, list: string) {
  const row = modelRowOf(model, list);
  return {
    ...row,
    vendor: model.vendor,
    aliases: model.aliases,
    exactContext: model.contextTokens > 0 ? showCount(model.contextTokens) : null,
    exactMaxOutput: model.maxOutputTokens > 0 ? showCount(model.maxOutputTokens) : null,
  };
}
export type ModelFactsRow = ReturnType<typeof modelFactsOf>;
