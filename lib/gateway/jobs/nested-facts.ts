import type { JobFacts } from '#lib/core/facts/job';
import type { NestedOffer } from '#lib/gateway/routing/pure/target';

const mark = 'price:';

/**
 * Under which price versions a job's nested models were admitted, as facts of the job: its end is priced
 * by them, however the catalogue has changed by then. By the provider's name and by the slug.
 */
export function nestedFacts(nested: ReadonlyMap<string, NestedOffer> | undefined): JobFacts {
  const facts: Record<string, string> = {};
  for (const [slug, { upstreamModel, price }] of nested ?? []) {
    facts[`${mark}${slug}`] = price.id;
    facts[`${mark}${upstreamModel}`] = price.id;
  }
  return facts;
}

/** Names of a job's nested models and the ids of their price versions. */
export function nestedVersions(facts: JobFacts): readonly (readonly [name: string, versionId: string])[] {
  return Object.entries(facts).flatMap(([key, value]) =>
    key.startsWith(mark) ? [[key.slice(mark.length), String(value)] as const] : [],
  );
}
