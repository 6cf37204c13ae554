import type { FoundModel } from '#lib/control/operations/provider/discover';
import type { Abilities } from '#lib/core/facts/abilities';

/** What the operator enters for a selected model; text as typed. */
export interface Draft {
  readonly slug: string;
  readonly free: boolean;
  /** Dollars per million tokens. */
  readonly input: string;
  readonly output: string;
  readonly context: string;
  readonly maxOutput: string;
  /** What it can do, and cannot; what is left out is not known. */
  readonly abilities: Abilities;
}

/** What the fields of a model have at first. Pure. */
export function draftOf(model: FoundModel, free: boolean): Draft {
  const { slug, price, contextTokens, maxOutputTokens, abilities } = model;
  return {
    slug,
    free,
    input: price?.input ?? '',
    output: price?.output ?? '',
    context: contextTokens === null ? '' : String(contextTokens),
    maxOutput: maxOutputTokens === null ? '' : String(maxOutputTokens),
    abilities,
  };
}

/** An entry of `provider.offer`. Pure. A price of the catalogue is taken whole, with its tiers, unless it was changed. */
export function inputOf(model: FoundModel, draft: Draft): object {
  const { upstreamModel, slug, families, price, known, kind, input } = model;
  const same = price && price.input === draft.input && (price.output ?? '') === draft.output;
  const typed = {
    ...(draft.input === '' ? {} : { input: draft.input }),
    ...(draft.output === '' ? {} : { output: draft.output }),
  };
  const number = (text: string) => (/^\d+$/.test(text) ? Number(text) : text);
  // Facts of a model that exists are those of all its offers.
  const isNew = !known || draft.slug !== slug;
  return {
    upstreamModel,
    slug: draft.slug,
    ...(families.length > 0 && { families }),
    ...(isNew && draft.context !== '' && { contextTokens: number(draft.context) }),
    ...(isNew && draft.maxOutput !== '' && { maxOutputTokens: number(draft.maxOutput) }),
    ...(isNew && model.name !== upstreamModel && { name: model.name }),
    ...(Object.keys(draft.abilities).length > 0 && { abilities: draft.abilities }),
    ...(isNew && input && kind === 'text' && { input }),
    ...(draft.free ? { free: true } : { price: same ? price : typed }),
  };
}

/** A model that the operator named, because the list does not have it. Pure. */
export function unlisted(providerId: string, name: string): FoundModel {
  return {
    upstreamModel: name,
    slug: `${providerId}/${name.replace(/[^A-Za-z0-9._:/-]+/g, '-')}`,
    offered: false,
    known: false,
    name,
    kind: 'text',
    families: [],
    contextTokens: null,
    maxOutputTokens: null,
    input: null,
    abilities: {},
    price: null,
    priceOf: null,
  };
}

/** Marks what was offered just now. */
export function markIn(slugs: readonly string[], names: readonly string[]) {
  return (model: FoundModel): FoundModel => {
    const slug = slugs[names.indexOf(model.upstreamModel)];
    return slug === undefined ? model : { ...model, slug, offered: true, known: true };
  };
}
