import { type Refusal, refusal } from '#lib/core/errors';
import type { Catalogue, KeySnapshot, ModelFacts, Policy } from '#lib/core/facts/snapshot';
import type { Ask } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';

/** What a name refers to. */
export interface Named {
  readonly slug: string;
  /** Slugs to try after it, in place of the policy's `fallbackModels`; absent: the policy's own. */
  readonly chain?: readonly string[];
}

/** The other names of a catalogue's models. */
interface OtherNames {
  /** Slug by alias. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Slugs by the part after their first slash. */
  readonly tails: ReadonlyMap<string, readonly string[]>;
}

/** A catalogue is replaced whole when it changes, so what was made of it lives as long as it does. */
const known = new WeakMap<Catalogue, OtherNames>();

/**
 * The model that a client names (contract: families/names): by its slug, an alias of the workspace, an alias
 * of the catalogue, or the part after the slash where that is one model in the key's scope; in this order.
 * Of a chain, the first model that the key allows and the family serves. Pure.
 * @param family null: any.
 * @returns the name itself as slug when it means nothing; `model_not_allowed` when it is ambiguous.
 */
export function resolveName(
  name: string,
  snapshot: Pick<KeySnapshot, 'key' | 'policies'>,
  catalogue: Catalogue,
  family: FamilyId | null,
): Named | Refusal {
  if (catalogue.models.has(name)) return { slug: name };
  const own = snapshot.policies.get('')?.aliases;
  const alias = own && Object.hasOwn(own, name) ? own[name] : undefined;
  if (typeof alias === 'string') return { slug: alias };
  if (alias) return firstOf(alias, snapshot, catalogue, family);
  const others = otherNames(catalogue);
  const slug = others.aliases.get(name);
  if (slug !== undefined) return { slug };
  const scope = snapshot.key.models;
  const tails = others.tails.get(name) ?? [];
  const allowed = scope === null ? tails : tails.filter((one) => scope.has(one));
  if (allowed.length > 1) {
    return refusal(
      'model_not_allowed',
      `Model ${JSON.stringify(name)} could be any of ${allowed.join(', ')}; use the full name of one of them.`,
    );
  }
  return { slug: allowed[0] ?? tails[0] ?? name };
}

/**
 * The workspace's aliases as entries of its models lists (contract: families/model-lists): each with the facts of the
 * first of its models that the key can call. Pure.
 * @param callable models that the key can call.
 */
export function aliasEntries<Model extends ModelFacts>(
  callable: readonly Model[],
  catalogue: Catalogue,
  aliases: Policy['aliases'] = {},
): Model[] {
  return Object.entries(aliases).flatMap(([name, meant]) => {
    // A slug goes before an alias of the same name.
    if (catalogue.models.has(name)) return [];
    const model = [meant].flat().flatMap((slug) => callable.find(({ id }) => id === slug) ?? [])[0];
    return model ? [{ ...model, id: name, name }] : [];
  });
}

/** The ask with its model and its nested models named by their slugs; the same object when they already are. */
export function resolveNames(
  ask: Ask,
  family: FamilyId,
  snapshot: KeySnapshot,
  catalogue: Catalogue,
): Ask | Refusal {
  const resolved = resolveModel(ask, family, snapshot, catalogue);
  if ('code' in resolved || !resolved.nested) return resolved;
  const nested = [];
  for (const one of resolved.nested) {
    const named = resolveName(one.slug, snapshot, catalogue, null);
    if ('code' in named) return named;
    nested.push(named.slug === one.slug ? one : { ...one, slug: named.slug });
  }
  return { ...resolved, nested };
}

function resolveModel(
  ask: Ask,
  family: FamilyId,
  snapshot: KeySnapshot,
  catalogue: Catalogue,
): Ask | Refusal {
  if (catalogue.models.has(ask.model)) return ask;
  const named = resolveName(ask.model, snapshot, catalogue, family);
  if ('code' in named || named.slug === ask.model) return 'code' in named ? named : ask;
  return {
    ...ask,
    model: named.slug,
    requestedModel: ask.model,
    ...(named.chain ? { chain: named.chain } : {}),
  };
}

function firstOf(
  chain: readonly string[],
  { key }: Pick<KeySnapshot, 'key'>,
  catalogue: Catalogue,
  family: FamilyId | null,
): Named {
  const at = chain.findIndex((slug) => {
    const offers = catalogue.models.get(slug)?.offers ?? [];
    const served = offers.some((offer) => family === null || offer.families.has(family));
    return served && (key.models === null || key.models.has(slug));
  });
  const first = Math.max(at, 0);
  return { slug: chain[first] ?? '', chain: chain.slice(first + 1) };
}

function otherNames(catalogue: Catalogue): OtherNames {
  const made = known.get(catalogue);
  if (made) return made;
  const aliases = new Map<string, string>();
  const tails = new Map<string, string[]>();
  for (const { id, aliases: names, offers } of catalogue.models.values()) {
    for (const name of names) if (!aliases.has(name)) aliases.set(name, id);
    const tail = id.slice(id.indexOf('/') + 1);
    if (offers.length > 0 && tail !== id) tails.set(tail, [...(tails.get(tail) ?? []), id]);
  }
  const names = { aliases, tails };
  known.set(catalogue, names);
  return names;
}
