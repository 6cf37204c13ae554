import type { Found } from '#lib/core/families/scan/shape';

/** Most array values kept from one body (contract: body/one-pass). */
const MAX_KEPT_VALUES = 50_000;
/** Limit of their text, in UTF-16 units; a string takes up to two bytes for each. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** The values kept from elements of arrays, in order; limited in number and size whatever the body contains. */
export class Collection {
  readonly kept: Found[] = [];
  #bytes = 0;

  /** @returns why the body is refused when a limit is exceeded; else null. */
  add(found: Found): string | null {
    if (typeof found.value === 'string') this.#bytes += found.value.length;
    if (this.kept.length >= MAX_KEPT_VALUES) {
      return `field "${found.path}" and similar ones have over ${MAX_KEPT_VALUES} values together; send fewer`;
    }
    if (this.#bytes > MAX_KEPT_BYTES) {
      return `field "${found.path}" and similar ones have over ${MAX_KEPT_BYTES / 1024 / 1024} MiB of text together; send less`;
    }
    this.kept.push(found);
    return null;
  }

  /**
   * Called at the end of an element: reduces the values found in it, those from index `from` on, to what `keep`
   * returns.
   * @returns whether any is kept.
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
