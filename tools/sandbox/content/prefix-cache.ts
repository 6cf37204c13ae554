import { createHash } from 'node:crypto';

const blockBytes = 512;
const blockTokens = 128;
const mostBlocks = 100_000;

export interface CacheRead {
  /** Tokens of the prefix that were seen before. */
  readonly cached: number;
  /** Tokens newly cached. */
  readonly written: number;
}

/**
 * The prompt prefixes seen so far: blocks of 128 tokens, chained by hash, as providers cache them. Without a cache
 * key, a prefix counts from 1,024 tokens; with one, from a single block.
 */
export class PrefixCache {
  readonly #seen = new Set<string>();

  read(prompt: string, cacheKey: string | null): CacheRead {
    const bytes = Buffer.from(prompt);
    const least = cacheKey === null ? 8 : 1;
    const blocks = Math.floor(bytes.length / blockBytes);
    if (blocks < least) return { cached: 0, written: 0 };
    let link = cacheKey ?? '';
    let cached = 0;
    let written = 0;
    for (let block = 0; block < blocks; block++) {
      const part = bytes.subarray(block * blockBytes, (block + 1) * blockBytes);
      link = createHash('sha1').update(link).update(part).digest('base64');
      if (written === 0 && this.#seen.has(link)) cached++;
      else written++;
      this.#keep(link);
    }
    return { cached: cached >= least ? cached * blockTokens : 0, written: written * blockTokens };
  }

  #keep(link: string): void {
    this.#seen.delete(link);
    this.#seen.add(link);
    if (this.#seen.size <= mostBlocks) return;
    for (const oldest of this.#seen) {
      this.#seen.delete(oldest);
      return;
    }
  }
}
