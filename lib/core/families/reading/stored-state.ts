import type { Refusal } from '#lib/core/errors';
import type { ResourceKind, ResourceReference } from '#lib/core/facts/resource';
import { wrongType } from '#lib/core/families/reading/fields';
import type { FieldSpec, Scan } from '#lib/core/families/scan';

/**
 * Fields by which compatible dialects refer to state kept at the provider, with the kind of resource to look up.
 */
const kinds = {
  cached_content: 'cache',
  previous_response_id: 'response',
  conversation: 'conversation',
  container: 'item',
} as const satisfies Readonly<Record<string, ResourceKind>>;

type StateName = keyof typeof kinds;

const cache: FieldSpec = { cached_content: { aliases: ['cachedContent'] } };
const named: FieldSpec = {
  ...cache,
  previous_response_id: {},
  conversation: { fields: { id: {} } },
  container: { fields: { id: {} } },
};

/**
 * The places of such fields in addition to the family's own ones: the top of the body, a vendor's object, and an
 * `extra_body` that a client sent as it is instead of merging it.
 */
export const stateFields: FieldSpec = {
  ...named,
  google: { fields: cache },
  extra_body: { aliases: ['extraBody'], fields: { ...named, google: { fields: cache } } },
};

const everyName: readonly StateName[] = [
  'cached_content',
  'previous_response_id',
  'conversation',
  'container',
];
const cacheAlone: readonly StateName[] = ['cached_content'];
const places: readonly (readonly [prefix: string, names: readonly StateName[]])[] = [
  ['', everyName],
  ['google.', cacheAlone],
  ['extra_body.', everyName],
  ['extra_body.google.', cacheAlone],
];

/** Top-level names; a body without any of them refers to no such state. */
const topNames = [...everyName, 'google', 'extra_body'];

/**
 * The references of a body: those from its family's own fields, and all others to state kept at a provider. Each must
 * belong to the workspace (contract: jobs/references).
 * @param references those that the family has read, from top-level fields named in `own`.
 * @returns the part of an ask; `invalid_body` for a name of another type.
 */
export function referencesIn(
  scan: Scan,
  own: readonly StateName[],
  references: readonly ResourceReference[],
): { readonly references?: readonly ResourceReference[] } | Refusal {
  if (!topNames.some((name) => scan.found.has(name))) return references.length === 0 ? none : { references };
  const all = [...references];
  for (const [prefix, names] of places) {
    for (const name of names) {
      if (prefix === '' && own.includes(name)) continue;
      const reference = referenceAt(scan, `${prefix}${name}`, kinds[name]);
      if (reference === null) continue;
      if (!('id' in reference)) return reference;
      all.push(reference);
    }
  }
  return all.length === 0 ? none : { references: all };
}

const none = {};

/** The id in the name of a context cache, with or without its collection; of any other text, the text. */
export function cacheIdIn(name: string): string {
  return /^cachedContents\/([^/]+)$/.exec(name)?.[1] ?? name;
}

function referenceAt({ found }: Scan, path: string, kind: ResourceKind): ResourceReference | Refusal | null {
  const outer = found.get(path);
  // A conversation or container may be an object; without an id the provider creates a new one.
  const holdsId = outer?.type === 'object' && (kind === 'conversation' || kind === 'item');
  const at = holdsId ? found.get(`${path}.id`) : outer;
  if (at === undefined) return null;
  if (typeof at.value === 'string') {
    return { kind, id: kind === 'cache' ? cacheIdIn(at.value) : at.value, required: true };
  }
  return wrongType(at, 'a string');
}
