import type { Ask } from '#lib/core/families/family';

/** What a request calls the model of its image tool; null: it names none. */
export function imageModelIn({ nested }: Ask): string | null {
  return nested?.[0]?.slug ?? null;
}
