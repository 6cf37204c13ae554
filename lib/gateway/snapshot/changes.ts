import type { Pool } from 'pg';
import type { Change } from '#lib/platform/data/change';
import { queryWithin } from '#lib/platform/data/query-within';

/**
 * Follows the table `change`, so that snapshots of every process stay in force (contract: durability/change-feed).
 */
export interface ChangeFeed {
  /** Polls now, then once a second until `close`. */
  start(): Promise<void>;
  /**
   * Delivers everything committed before this call; polls asked for while one runs share the next one.
   * @returns whether the database answered; never throws.
   */
  poll(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ChangeFeedOptions {
  readonly pool: Pool;
  /** Changes in the order of their commits. When it throws, they come again with the next poll. */
  readonly onChange: (changes: readonly Change[]) => void | Promise<void>;
  /** Changes were missed: drop everything that came from the database. Also the first poll says so. */
  readonly onLost: () => void | Promise<void>;
  /** Everything committed before `startedMono` (by `mono`) has been delivered. */
  readonly onPolled?: (startedMono: number) => void;
  /** The first error of an outage. */
  readonly onError?: (error: unknown) => void;
  /** Monotonic ms. */
  readonly mono: () => number;
  readonly intervalMs?: number;
  /** How long rows of `change` are kept, ms; an hour. */
  readonly keepMs?: number;
}

/** Positions are dense (each is written with its row, in commit order): a missing one was deleted. */
const statement = `
  SELECT h.position AS head, c.position, c.kind, c.subject
  FROM change_head h LEFT JOIN change c ON c.position > $1
  WHERE h.one = 1 ORDER BY c.position LIMIT $2`;
const pageSize = 5_000;
const timeoutMs = 2_000;
const tidyEveryMs = 60_000;

interface Row {
  head: string;
  position: string | null;
  kind: Change['kind'];
  subject: string;
}

/** Makes a feed that starts at the end of the table; it survives outages of the database. */
export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { pool, mono, intervalMs = 1_000, keepMs = 3_600_000 } = options;
  /** null until the first poll: what came before is unknown, so it counts as lost. */
  let cursor: bigint | null = null;
  let running: Promise<boolean> | null = null;
  let next: Promise<boolean> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let closed = false;
  let away = false;
  let tidiedMono = mono();
  const query = queryWithin(pool, timeoutMs);

  async function page(): Promise<boolean> {
    const { rows } = await query<Row>(statement, [String(cursor ?? -1), cursor === null ? 1 : pageSize]);
    const head = BigInt(rows[0]?.head ?? 0);
    const found = rows.filter((row) => row.position !== null);
    const missed =
      cursor === null || head < cursor || BigInt(found[0]?.position ?? head + 1n) !== cursor + 1n;
    if (missed && head !== cursor) {
      await options.onLost();
      cursor = head;
      return false;
    }
    if (found.length === 0) return false;
    await options.onChange(found.map(({ kind, subject }) => ({ kind, subject })));
    cursor = BigInt(found.at(-1)?.position ?? head);
    return found.length === pageSize;
  }

  async function run(): Promise<boolean> {
    const startedMono = mono();
    try {
      while (await page());
      away = false;
      options.onPolled?.(startedMono);
      await tidy();
      return true;
    } catch (error) {
      if (!away) options.onError?.(error);
      away = true;
      return false;
    }
  }

  async function tidy(): Promise<void> {
    if (mono() - tidiedMono < tidyEveryMs) return;
    tidiedMono = mono();
    await query(`DELETE FROM change WHERE at < now() - $1 * interval '1 millisecond'`, [keepMs]);
  }

  function poll(): Promise<boolean> {
    if (closed) return Promise.resolve(false);
    if (running === null) {
      running = run().finally(() => {
        running = null;
      });
      return running;
    }
    // The running poll may have read before the caller's commit: one more follows it.
    next ??= running.then(() => {
      next = null;
      return poll();
    });
    return next;
  }

  async function tick(): Promise<void> {
    await poll();
    if (!closed) timer = setTimeout(tick, intervalMs).unref();
  }

  return {
    start: tick,
    poll,
    close: async () => {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}
