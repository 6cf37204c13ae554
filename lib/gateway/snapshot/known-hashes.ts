import type { Pool } from 'pg';

/** A Bloom filter of the hashes of existing keys. */
export interface KnownHashes {
  /** Never false for an added hash; true for one in 500 others when a million keys exist. */
  has(hash: Uint8Array): boolean;
  /** Adds the hashes of these keys, rotated-out secrets included; null: of all. @throws Error of the database. */
  load(keyIds: readonly string[] | null): Promise<void>;
}

const pageSize = 20_000;
/** 2^24 bits, 2 MiB. The hashes are random, so their own bytes select the bits. */
const placeBits = 24;
const places = 4;
const statement = `
  SELECT id, substring(hash FROM 1 FOR 12) AS hash, substring(old_hash FROM 1 FOR 12) AS old_hash FROM api_key
  WHERE ($1::uuid[] IS NULL OR id = ANY ($1::uuid[])) AND ($2::uuid IS NULL OR id > $2::uuid)
  ORDER BY id LIMIT ${pageSize}`;

/** How long a failed load waits before it is repeated, ms. */
const RETRY_MS = 5_000;

/** Loads hashes in the background and repeats failed loads: until then the keys would be refused as unknown. */
interface HashLoader {
  /** As `KnownHashes.load`; resolves after the first attempt, successful or not. */
  load(keyIds: readonly string[] | null): Promise<void>;
  /** Repeats no more. */
  stop(): void;
}

/** @param report receives the error of each failed load. */
export function createHashLoader(
  hashes: Pick<KnownHashes, 'load'>,
  report: (error: unknown) => void,
  retryMs = RETRY_MS,
): HashLoader {
  /** Keys whose load has failed; null: all keys. */
  let failed: Set<string> | null = new Set();
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;

  async function load(keyIds: readonly string[] | null): Promise<void> {
    try {
      await hashes.load(keyIds);
    } catch (error) {
      report(error);
      failed = keyIds === null || failed === null ? null : new Set([...failed, ...keyIds]);
      if (!stopped) timer ??= setTimeout(repeat, retryMs).unref();
    }
  }

  function repeat(): void {
    const again = failed === null ? null : [...failed];
    failed = new Set();
    timer = null;
    void load(again);
  }

  return {
    load,
    stop: () => {
      stopped = true;
      if (timer) clearTimeout(timer);
    },
  };
}

/**
 * Distinguishes existing keys from made-up ones without a query, so that a flood of made-up keys cannot use up the
 * look-ups of real ones (contract: authentication/look-up-limits). Empty until `load`.
 */
export function createKnownHashes(pool: Pick<Pool, 'query'>): KnownHashes {
  const bits = new Uint8Array(1 << (placeBits - 3));

  function placeOf(hash: Uint8Array, number: number): number {
    const at = number * 3;
    return (hash[at] ?? 0) | ((hash[at + 1] ?? 0) << 8) | ((hash[at + 2] ?? 0) << 16);
  }

  function add(hash: Uint8Array): void {
    for (let number = 0; number < places; number++) {
      const place = placeOf(hash, number);
      bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7));
    }
  }

  return {
    has: (hash) => {
      for (let number = 0; number < places; number++) {
        const place = placeOf(hash, number);
        if (((bits[place >> 3] ?? 0) & (1 << (place & 7))) === 0) return false;
      }
      return true;
    },
    load: async (keyIds) => {
      for (let last: string | null = null; ; ) {
        const page: { id: string; hash: Buffer; old_hash: Buffer | null }[] = (
          await pool.query(statement, [keyIds, last])
        ).rows;
        for (const { hash, old_hash: old } of page) for (const one of old ? [hash, old] : [hash]) add(one);
        last = page.at(-1)?.id ?? null;
        if (page.length < pageSize) return;
      }
    },
  };
}
