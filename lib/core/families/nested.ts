import { isRefusal, type Refusal } from '#lib/core/errors';
import { replaceValue } from '#lib/core/families/edits';
import type { Ask, Edit, NestedModel } from '#lib/core/families/family';
import { readSlug } from '#lib/core/families/reading/fields';
import type { Scan } from '#lib/core/families/scan';

/**
 * The nested model names of a body (contract: admission/nested-models).
 * @param paths where the family has them, as its fields spell them: "tools[].model", "svg.model".
 * @returns `invalid_body` for one that is not a string; undefined when there is none.
 */
export function readNested(
  scan: Scan,
  paths: readonly string[],
): readonly NestedModel[] | undefined | Refusal {
  const standing = paths.flatMap((path) => scan.found.get(path) ?? []);
  const nested: NestedModel[] = [];
  for (const at of [...standing, ...scan.collected.filter(({ path }) => paths.includes(path))]) {
    const slug = readSlug(at);
    if (isRefusal(slug)) return slug;
    nested.push({ slug, at });
  }
  return nested.length > 0 ? nested : undefined;
}

/**
 * Each nested slug replaced, in place, by the name that the target's provider has for it.
 * @param offers of the target's provider, by slug.
 */
export function nestedEdits(
  ask: Ask,
  offers: ReadonlyMap<string, { readonly upstreamModel: string }> | undefined,
): readonly Edit[] {
  return (ask.nested ?? []).flatMap(({ slug, at }) => {
    const offer = offers?.get(slug);
    return offer && offer.upstreamModel !== at.value
      ? [replaceValue(at, JSON.stringify(offer.upstreamModel))]
      : [];
  });
}
