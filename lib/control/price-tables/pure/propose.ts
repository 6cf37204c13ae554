import { createHash } from 'node:crypto';
import {
  offerKey,
  priceText,
  type StoredCatalogue,
  type StoredOffer,
} from '#lib/control/catalogue/difference';
import { filePriceOf } from '#lib/control/catalogue/file-price';
import { listPrice } from '#lib/control/catalogue/price-table';
import { canonOf, namesItsModels } from '#lib/control/price-tables/pure/canon';
import { mergePrice } from '#lib/control/price-tables/pure/merge-price';
import { newestOfLine } from '#lib/control/price-tables/pure/newest';
import type { TableEntry, TableId } from '#lib/control/price-tables/pure/table';
import { slugFor } from '#lib/control/providers/known';
import { familiesFor } from '#lib/control/providers/model-list';
import type { Price } from '#lib/core/metering/price-list';
import type { FileModel, FileOffer } from '#lib/core/schemas/catalogue';
import { type FilePrice, readFilePrice } from '#lib/core/schemas/price';
import { simulatedProvider } from '#lib/core/simulated';

/** A table as it was last read. */
export interface Reading {
  readonly id: TableId;
  readonly entries: readonly TableEntry[];
  /** Every model that it has ever listed, as `seenKey` names it. */
  readonly seen: ReadonlySet<string>;
}

export const proposalKinds = ['price', 'retirement', 'withdrawal', 'alias', 'new'] as const;
export type ProposalKind = (typeof proposalKinds)[number];

/** What accepting a proposal writes. */
export type Acceptance =
  | { readonly price: FilePrice }
  | { readonly retires: string }
  | { readonly withdraw: true }
  | { readonly alias: string; readonly to: string }
  | { readonly model: FileModel };

/** One change of the catalogue that tables suggest (contract: control-plane/proposals). */
export interface Proposal {
  /** A fingerprint of what is there and of what would be: if either changes, it is another proposal. */
  readonly id: string;
  readonly kind: ProposalKind;
  readonly provider: string;
  /** Slug. */
  readonly model: string;
  readonly upstreamModel: string;
  /** Of the offer in the catalogue; null: it is new. */
  readonly offerId: string | null;
  /** The tables that say so. */
  readonly tables: readonly TableId[];
  readonly before: string | null;
  readonly after: string;
  /** What another table says instead. */
  readonly others: readonly { readonly table: TableId; readonly says: string }[];
  /** What to look at before accepting it. */
  readonly warnings: readonly string[];
  readonly accept: Acceptance;
  /** The new price, for trying it on past calls; null: the price stays. */
  readonly price: Price | null;
}

export interface Proposals {
  readonly proposals: readonly Proposal[];
  /** Providers of the catalogue that no table lists. */
  readonly unlisted: readonly string[];
  /** Models that are listed but not proposed, by reason. */
  readonly notProposed: Readonly<Record<NotProposed, number>>;
  /** Parts of listed prices that are not taken over, because the price in force counts by something else. */
  readonly notCompared: readonly string[];
}

export const notProposed = ['withdrawn', 'otherKinds', 'unpriced', 'deprecated', 'deployments'] as const;
export type NotProposed = (typeof notProposed)[number];

export const seenKey = (provider: string, upstreamModel: string) => `${provider} ${upstreamModel}`;

/** A table's entry with the table that it is from. */
interface Said {
  readonly table: TableId;
  readonly entry: TableEntry;
}

/** Compares the tables with the catalogue, the first table first. Pure. */
export function propose(stored: StoredCatalogue, readings: readonly Reading[]): Proposals {
  const said = new Map<string, Said[]>();
  for (const { id: table, entries } of readings) {
    for (const entry of entries) {
      const key = seenKey(entry.provider, entry.upstreamModel);
      const known = said.get(key);
      if (known) known.push({ table, entry });
      else said.set(key, [{ table, entry }]);
    }
  }
  const canons = new Map<string, string>();
  const unlisted: string[] = [];
  for (const provider of stored.providers.values()) {
    const canon = provider.id === simulatedProvider ? null : canonOf(provider);
    if (canon !== null) canons.set(provider.id, canon);
    else if (provider.id !== simulatedProvider) unlisted.push(provider.id);
  }
  const proposals: Proposal[] = [];
  const notCompared: string[] = [];
  for (const offer of stored.offers.values()) {
    const canon = canons.get(offer.providerId);
    if (canon === undefined || offer.withdrawn) continue;
    const key = seenKey(canon, offer.facts.upstreamModel);
    const own = said.get(key) ?? [];
    proposals.push(...pricesOf(offer, own, notCompared));
    proposals.push(...endsOf(stored, offer, own));
    if (own.length > 0) continue;
    const gone = readings.filter(({ seen }) => seen.has(key)).map(({ id }) => id);
    if (gone.length > 0) proposals.push(withdrawal(offer, gone, 'no longer listed'));
  }
  proposals.push(...aliasesOf(stored, canons, said));
  const fresh = newOffers(stored, canons, said);
  proposals.push(...fresh.proposals);
  return {
    proposals: proposals.sort(byPlace),
    unlisted: unlisted.sort(),
    notProposed: fresh.counts,
    notCompared: [...new Set(notCompared)].sort(),
  };
}

function byPlace(one: Proposal, other: Proposal): number {
  const rank = ({ kind }: Proposal) => proposalKinds.indexOf(kind);
  if (one.kind !== other.kind) return rank(one) - rank(other);
  const key = ({ provider, model, id }: Proposal) => `${provider} ${model} ${id}`;
  return key(one) < key(other) ? -1 : 1;
}

/** One proposal for each price that a table has and that is not in force. */
function pricesOf(offer: StoredOffer, said: readonly Said[], notCompared: string[]): Proposal[] {
  const listed = said.flatMap(({ table, entry }) => {
    if (entry.price === null) return [];
    const wanted = readFilePrice(entry.price);
    if (offer.price === null)
      return [{ table, entry, price: wanted, differs: true, kept: [], left: [] as readonly string[] }];
    return [{ table, entry, ...mergePrice(offer.price, wanted) }];
  });
  const place = `${offer.modelId} at ${offer.providerId}`;
  for (const { table, left } of listed)
    for (const part of left) notCompared.push(`${place}: ${part} (${table})`);
  const texts = new Map(listed.map((one) => [one, one.differs ? fileTextOf(one.price) : 'as in force']));
  const done = new Set<string>();
  return listed.flatMap((one) => {
    const text = texts.get(one) ?? '';
    if (!one.differs || done.has(text)) return [];
    done.add(text);
    const agreeing = listed.filter((other) => texts.get(other) === text);
    const others = listed
      .filter((other) => texts.get(other) !== text)
      .map(({ table, differs, price }) => ({
        table,
        says: differs ? priceText(price) : 'the price in force',
      }));
    const price = filePriceOf(listPrice(one.price)) as FilePrice;
    return [
      made('price', offer, {
        tables: agreeing.map(({ table }) => table),
        before: priceText(offer.price),
        after: priceText(one.price),
        others,
        warnings: [
          ...leapOf(offer.price, one.price),
          ...(one.kept.length > 0 ? [`not in the table, so it stays as it is: ${one.kept.join(', ')}`] : []),
          ...unreadOf(agreeing),
        ],
        was: offer.price && filePriceOf(listPrice(offer.price)),
        accept: { price },
        price: one.price,
      }),
    ];
  });
}

function fileTextOf(price: Price): string {
  return canonical(filePriceOf(listPrice(price)));
}

function unreadOf(said: readonly Said[]): string[] {
  return said.flatMap(({ table, entry }) =>
    entry.unread.length > 0 ? [`not read of ${table}: ${entry.unread.slice(0, 10).join(', ')}`] : [],
  );
}

/** How much a price may change before it is pointed out. */
const leap = 10n;

function leapOf(before: Price | null, after: Price): string[] {
  return (['input', 'output'] as const).flatMap((name) => {
    const [was, is] = [before?.base[name], after.base[name]];
    if (was === undefined || is === undefined || was === is) return [];
    if (is === 0n) return [`${name} would be free of charge`];
    if (was > 0n && (is >= was * leap || is * leap <= was))
      return [
        `the price of ${name} would be ${is > was ? '10 times as high' : 'a tenth'} or ${is > was ? 'more' : 'less'}`,
      ];
    return [];
  });
}

/** The day on which a provider stops serving an offer, and what is deprecated without a day. */
function endsOf(stored: StoredCatalogue, offer: StoredOffer, said: readonly Said[]): Proposal[] {
  const dated = said.filter(({ entry }) => entry.retires !== null);
  const current = offer.facts.retires ?? stored.models.get(offer.modelId)?.retires ?? null;
  const days = [...new Set(dated.map(({ entry }) => entry.retires ?? ''))].filter((day) => day !== current);
  const proposals = days.map((day) =>
    made('retirement', offer, {
      tables: dated.filter(({ entry }) => entry.retires === day).map(({ table }) => table),
      before: current,
      after: day,
      others: dated
        .filter(({ entry }) => entry.retires !== day)
        .map(({ table, entry }) => ({ table, says: entry.retires ?? '' })),
      warnings: [],
      was: current,
      accept: { retires: day },
      price: null,
    }),
  );
  const deprecated = said.filter(({ entry }) => entry.deprecated).map(({ table }) => table);
  if (deprecated.length > 0 && dated.length === 0 && current === null)
    return [...proposals, withdrawal(offer, deprecated, 'deprecated, without a day')];
  return proposals;
}

function withdrawal(offer: StoredOffer, tables: readonly TableId[], why: string): Proposal {
  return made('withdrawal', offer, {
    tables,
    before: 'offered',
    after: `withdrawn: ${why}`,
    others: [],
    warnings: [],
    was: null,
    accept: { withdraw: true },
    price: null,
  });
}

type Told = Pick<Proposal, 'tables' | 'before' | 'after' | 'others' | 'warnings' | 'accept' | 'price'> & {
  /** What is there, exactly. */
  readonly was: unknown;
};

function made(kind: ProposalKind, offer: StoredOffer, { was, ...told }: Told): Proposal {
  const { providerId: provider, modelId: model, facts, id: offerId } = offer;
  const place = { provider, model, upstreamModel: facts.upstreamModel };
  return { id: idOf({ kind, ...place, was, accept: told.accept }), kind, ...place, offerId, ...told };
}

function idOf(proposal: unknown): string {
  return createHash('sha256').update(canonical(proposal)).digest('hex').slice(0, 16);
}

/** JSON with its members in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

type Canons = ReadonlyMap<string, string>;
type AllSaid = ReadonlyMap<string, readonly Said[]>;

/** Aliases that end in "-latest" follow the newest model of their line, if the catalogue offers it. */
function aliasesOf(stored: StoredCatalogue, canons: Canons, said: AllSaid): Proposal[] {
  const offers = [...stored.offers.values()].filter((offer) => !offer.withdrawn);
  const entryOf = (offer: StoredOffer) => {
    const canon = canons.get(offer.providerId);
    const own = canon === undefined ? [] : (said.get(seenKey(canon, offer.facts.upstreamModel)) ?? []);
    return own.find(({ entry }) => entry.line !== null);
  };
  return [...stored.models.values()].flatMap((model) => {
    const latest = model.aliases.filter((alias) => alias.endsWith('-latest'));
    const offer =
      latest.length > 0 ? offers.find((one) => one.modelId === model.id && entryOf(one)) : undefined;
    const from = offer && entryOf(offer);
    if (!offer || !from) return [];
    const siblings = offers.flatMap((one) => {
      const found = one.providerId === offer.providerId ? entryOf(one) : undefined;
      return found ? [{ ...found.entry, slug: one.modelId }] : [];
    });
    const newest = newestOfLine(from.entry, siblings);
    if (newest === null || newest.slug === model.id) return [];
    const target = offers.find((one) => one.modelId === newest.slug && one.providerId === offer.providerId);
    return latest.map((alias) =>
      made('alias', offer, {
        tables: [from.table],
        before: `${alias} is ${model.id}`,
        after: `${alias} is ${newest.slug}`,
        others: [],
        warnings: [],
        was: [model.id, alias],
        accept: { alias, to: newest.slug },
        price: target?.price ?? null,
      }),
    );
  });
}

/** Models that a table lists for a provider of the catalogue, and that it does not offer. */
function newOffers(stored: StoredCatalogue, canons: Canons, said: AllSaid) {
  const counts: Record<NotProposed, number> = {
    withdrawn: 0,
    otherKinds: 0,
    unpriced: 0,
    deprecated: 0,
    deployments: 0,
  };
  const offered = new Map(
    [...stored.offers.values()].map((offer) => [seenKey(offer.providerId, offer.facts.upstreamModel), offer]),
  );
  const names = new Set([...stored.models.values()].flatMap(({ id, aliases }) => [id, ...aliases]));
  const known = knownNames(stored);
  const places = new Set(stored.offers.keys());
  const proposals: Proposal[] = [];
  for (const [provider, canon] of canons) {
    const { families: addresses = {}, variants = {} } = stored.providers.get(provider) ?? {};
    const spoken = Object.keys(addresses);
    for (const own of said.values()) {
      const [first] = own;
      if (first === undefined || first.entry.provider !== canon) continue;
      const { upstreamModel } = first.entry;
      const there = offered.get(seenKey(provider, upstreamModel));
      if (there) {
        if (there.withdrawn) counts.withdrawn += 1;
        continue;
      }
      const priced = own.filter(({ entry }) => entry.price !== null);
      const lead = priced[0];
      const kind = own.find(({ entry }) => entry.kind !== 'other')?.entry.kind ?? 'other';
      const families = familiesFor({ kind, upstreamModel }, spoken, variants);
      if (families.length === 0) counts.otherKinds += 1;
      else if (own.some(({ entry }) => entry.deprecated || entry.retires !== null)) counts.deprecated += 1;
      else if (lead === undefined) counts.unpriced += 1;
      else if (!namesItsModels(canon)) counts.deployments += 1;
      else {
        const model = known.get(plain(upstreamModel)) ?? known.get(plain(baseOf(upstreamModel))) ?? null;
        const taken = model !== null && places.has(offerKey(model, provider));
        const slug =
          model !== null && !taken ? model : slugFor(provider, upstreamModel, (one) => names.has(one));
        names.add(slug);
        places.add(offerKey(slug, provider));
        proposals.push(newOffer({ provider, slug, families, own, lead }, stored));
      }
    }
  }
  return { proposals, counts };
}

/** By lower-case name, the slug of a model; null: more than one model has it. */
function knownNames(stored: StoredCatalogue): Map<string, string | null> {
  const known = new Map<string, string | null>();
  const note = (name: string, model: string) => {
    for (const one of new Set([plain(name), plain(baseOf(name))])) {
      const other = known.get(one);
      known.set(one, other === undefined || other === model ? model : null);
    }
  };
  for (const { id, aliases } of stored.models.values()) for (const name of [id, ...aliases]) note(name, id);
  for (const { modelId, facts, providerId } of stored.offers.values())
    if (providerId !== simulatedProvider) note(facts.upstreamModel, modelId);
  return known;
}

function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

function plain(name: string): string {
  return name.toLowerCase();
}

/** Used if no table says; a typical length today. */
const usual = { contextTokens: 131_072, maxOutputTokens: 8_192 };

interface NewOffer {
  readonly provider: string;
  readonly slug: string;
  readonly families: FileOffer['families'];
  /** All that tables say of it. */
  readonly own: readonly Said[];
  /** The first of them with a price. */
  readonly lead: Said;
}

function newOffer({ provider, slug, families, own, lead }: NewOffer, stored: StoredCatalogue): Proposal {
  const { upstreamModel } = lead.entry;
  const first = <Value>(of: (entry: TableEntry) => Value | null) =>
    own.map(({ entry }) => of(entry)).find((value) => value !== null) ?? null;
  // It was checked when the table was read.
  const listed = lead.entry.price ?? {};
  const price = readFilePrice(listed);
  const text = fileTextOf(price);
  const agreeing = own.filter(({ entry }) => entry.price && fileTextOf(readFilePrice(entry.price)) === text);
  const others = own
    .filter((one) => one.entry.price !== null && !agreeing.includes(one))
    .map(({ table, entry }) => ({ table, says: priceText(readFilePrice(entry.price ?? {})) }));
  const contextTokens = first(({ contextTokens: tokens }) => tokens);
  const maxOutputTokens = first(({ maxOutputTokens: tokens }) => tokens);
  const known = stored.models.get(slug);
  const released = first((entry) => entry.released);
  const facts: Omit<FileModel, 'offers'> = known ?? {
    id: slug,
    name: (first(({ name }) => name) ?? upstreamModel).slice(0, 200),
    aliases: [],
    contextTokens: contextTokens ?? usual.contextTokens,
    maxOutputTokens:
      maxOutputTokens ?? Math.min(usual.maxOutputTokens, contextTokens ?? usual.maxOutputTokens),
    input: first(({ input }) => input) ?? ['text'],
    output:
      families.includes('embeddings') || families.includes('embed-content')
        ? ['embedding']
        : families.includes('rerank')
          ? ['scores']
          : ['text'],
    reasoning: own.some(({ entry }) => entry.reasoning),
    abilities: {},
    ...(released !== null && { released }),
  };
  const offer: FileOffer = {
    provider,
    upstreamModel,
    families,
    price: listed,
    denyBetas: [],
    abilities: {},
    operations: [],
  };
  const model: FileModel = { ...facts, offers: [offer] };
  const free = (price.base.input ?? 0n) === 0n && (price.base.output ?? 0n) === 0n && !price.base.request;
  const place = { provider, model: slug, upstreamModel };
  return {
    id: idOf({ kind: 'new', ...place, known: known !== undefined, accept: known ? offer : model }),
    kind: 'new',
    ...place,
    offerId: null,
    tables: agreeing.map(({ table }) => table),
    before: known ? 'not offered by this provider' : null,
    after: priceText(price),
    others,
    warnings: [
      ...(free ? ['free of charge according to the table'] : []),
      ...(known || contextTokens !== null ? [] : ['the table has no length of input; a usual one is taken']),
      ...unreadOf(agreeing),
    ],
    accept: { model },
    price: null,
  };
}

/**
 * Whether a standing yes for new models covers a proposal: only if it is new, nothing has to be looked at, and no table
 * contradicts it. Pure.
 */
export function isPlainlyNew({ kind, warnings, others }: Proposal): boolean {
  return kind === 'new' && warnings.length === 0 && others.length === 0;
}
