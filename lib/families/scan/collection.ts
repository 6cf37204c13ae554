import type { Found } from '#lib/families/scan';

/** Values of arrays that may be kept of one body (decisions §4). */
const MAX_KEPT_VALUES = 50_000;
/** Bytes of text that they may hold together: strings in memory take up to twice as much. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** What the pass keeps of the elements of arrays, in order. However large the body, it stays small. */
export class Collection {
  readonly kept: Found[] = [];
  #bytes = 0;

  /** @returns what is wrong with the body when that is too much; else null. */
  add(found: Found): string | null {
    if (typeof found.value === 'string') this.#bytes += found.value.length;
    if (this.kept.length >= MAX_KEPT_VALUES) {
      return `field "${found.path}" stands more often than the ${MAX_KEPT_VALUES} values that are read of one body; send fewer`;
    }
    if (this.#bytes > MAX_KEPT_BYTES) {
      return `the values of "${found.path}" and its like are over ${MAX_KEPT_BYTES / 1024 / 1024} MiB together; send shorter ones`;
    }
    this.kept.push(found);
    return null;
  }

  /**
   * An element ends: what was found from place `from` on is what stands in it.
   * @returns whether any of it is kept.
   */
  prune(from: number, keep: (found: readonly Found[]) => readonly Found[]): boolean {
    if (this.kept.length === from) return false;
    const inside = this.kept.slice(from);
    const wanted = keep(inside);
    if (wanted.length < inside.length) {
      this.kept.length = from;
      this.#bytes = Math.max(0, this.#bytes - bytesOf(inside) + bytesOf(wanted));
      for (const one of wanted) this.kept.push(one);
    }
    return wanted.length > 0;
  }
}

function bytesOf(found: readonly Found[]): number {
  let bytes = 0;
  for (const { value } of found) if (typeof value === 'string') bytes += value.length;
  return bytes;
}
