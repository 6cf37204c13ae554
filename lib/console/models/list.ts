import { controlHost } from '#lib/console/actor';
import { readListUrl } from '#lib/console/list-url';
import { allModels, type ModelRow, modelRowOf } from '#lib/console/models/rows';
import { type ListedModel, listModels } from '#lib/control/catalogue/list';
import { findModels, isCallable, type SortKey, sortKeys, sortModels } from '#lib/control/catalogue/search';
import { modelFilters } from '#lib/control/operations/catalogue/filters';
import { parseFields } from '#lib/control/operations/field/field';
import type { Catalogue } from '#lib/core/facts/snapshot';

const pageSize = 50;
/** How many models can be compared on the page. */
export const mostCompared = 4;

type Query = Readonly<Record<string, string | string[] | undefined>>;

const dayMs = 86_400_000;
/** By catalogue; a new day may retire offers. */
const listed = new WeakMap<Catalogue, Listed>();
interface Listed {
  readonly day: number;
  readonly inService: readonly ListedModel[];
  readonly all: readonly ListedModel[];
}

/** The models of this gateway, which are public: prices are no secret, but the gateway's setup is. */
export async function readModels(): Promise<readonly ListedModel[]> {
  return (await readListed()).inService;
}

/** Also models that no provider serves any more, because their pages say so. */
export async function readAllModels(): Promise<readonly ListedModel[]> {
  return (await readListed()).all;
}

async function readListed(): Promise<Listed> {
  const catalogue = await controlHost().catalogue();
  const nowMs = Date.now();
  const day = Math.floor(nowMs / dayMs);
  const known = listed.get(catalogue);
  if (known?.day === day) return known;
  const all = listModels(catalogue, nowMs);
  const made = { day, all, inService: all.filter(({ offers }) => offers.length > 0) };
  listed.set(catalogue, made);
  return made;
}

/** Slugs of the callable models by protocol, in the list's default order. Pure. */
export function callableByFamily(models: readonly ListedModel[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const model of sortModels(models.filter(isCallable), null)) {
    const families = model.offers.filter(({ available }) => available).flatMap((offer) => offer.families);
    for (const family of new Set(families)) found.set(family, [...(found.get(family) ?? []), model.id]);
  }
  return found;
}

/**
 * What a key may call: the models that `GET /v1/models` lists for it. Pure.
 * @param allowed the key's own list; null: every model.
 */
export function scopeOfKey(
  models: readonly ListedModel[],
  allowed: readonly string[] | null,
): ReadonlySet<string> {
  const callable = models.filter(isCallable).map(({ id }) => id);
  return new Set(allowed === null ? callable : callable.filter((id) => allowed.includes(id)));
}

/** What the page of the catalogue shows. */
export interface CatalogueView {
  readonly rows: readonly ModelRow[];
  /** The models to compare, at most four, in the order of the URL. */
  readonly compared: readonly ListedModel[];
  readonly found: number;
  readonly callable: number;
  /** Models that are left out only because they cannot be called here. */
  readonly hidden: number;
  readonly page: number;
  readonly pages: number;
  /** null: callable models first, newest first. */
  readonly sort: { readonly by: SortKey; readonly descending: boolean } | null;
  /** The texts in the URL, for links to the same list in another order. */
  readonly texts: Readonly<Record<string, string>>;
  readonly faults: readonly string[];
}

/**
 * Reads the URL of the catalogue's page. Invalid filters are reported and ignored. Pure.
 * @param list path of the page: "/models".
 * @param scope the models that a chosen key may call; null: no key was chosen, or it may call all.
 */
export function viewCatalogue(
  models: readonly ListedModel[],
  query: Query,
  { list, scope }: { readonly list: string; readonly scope: ReadonlySet<string> | null },
): CatalogueView {
  const { available: asked, ...given } = query;
  // What can be called is what people look for, unless nothing can be yet.
  const available = one(asked) ?? (models.some(isCallable) ? 'on' : undefined);
  const all = available === allModels;
  const address = readListUrl(modelFilters, all ? given : { ...given, available }, 'UTC');
  const { input, faults } = address;
  const { available: _, ...others } = address.texts;
  const texts = one(asked) === undefined ? others : { ...others, available: one(asked) ?? '' };
  const inScope = scope === null ? models : models.filter(({ id }) => scope.has(id));
  const found = findModels(inScope, parseFields(modelFilters, input));
  const sort = sortOf(one(query.sort));
  const sorted = sortModels(found, sort?.by ?? null, sort?.descending);
  const pages = Math.max(1, Math.ceil(sorted.length / pageSize));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(one(query.page)) || 1)));
  const chosen = [...new Set((one(query.compare) ?? '').split(',').filter(Boolean))];
  const { sort: by, key, compare, columns } = query;
  const kept = Object.entries({ sort: by, key, compare, columns }).flatMap(([name, value]) =>
    one(value) ? [[name, one(value)]] : [],
  );
  return {
    rows: sorted.slice((page - 1) * pageSize, page * pageSize).map((model) => modelRowOf(model, list)),
    compared: chosen.flatMap((id) => models.find((model) => model.id === id) ?? []).slice(0, mostCompared),
    found: found.length,
    callable: found.filter(isCallable).length,
    hidden: all ? 0 : inScope.filter((model) => !isCallable(model)).length,
    page,
    pages,
    sort,
    texts: { ...texts, ...Object.fromEntries(kept) },
    faults,
  };
}

function one(value: string | string[] | undefined): string | undefined {
  return [value].flat()[0]?.trim() || undefined;
}

/** "input" or "-input"; null: neither. */
function sortOf(text: string | undefined): CatalogueView['sort'] {
  const by = sortKeys.find((key) => key === text?.replace(/^-/, ''));
  return by ? { by, descending: text?.startsWith('-') ?? false } : null;
}
