import { Client } from 'pg';
import { noticeChannel } from '#lib/platform/data/change';

/** Pauses before a lost connection is opened again, ms: the poll goes on meanwhile. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** How often the connection is tried; one that is half open says nothing by itself. */
const TRY_EVERY_MS = 15_000;
const TRY_WITHIN_MS = 5_000;

export interface Notices {
  close(): Promise<void>;
}

/**
 * Listens for changes (contract: durability/notices), on a connection of its own. A notice only makes the poll earlier:
 * if notices do not arrive, as through a pooler that gives each statement another connection, changes take a second
 * longer and nothing else. Failures here are never errors of the process.
 * @param url PostgreSQL address.
 * @param poll also called whenever it begins to listen, for what was published before.
 */
export function listenForNotices(url: string, poll: () => Promise<unknown>): Notices {
  let client: Client | null = null;
  let pauseMs = FIRST_PAUSE_MS;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function open(): Promise<void> {
    const mine = new Client({
      connectionString: url,
      connectionTimeoutMillis: TRY_WITHIN_MS,
      query_timeout: TRY_WITHIN_MS,
      keepAlive: true,
      application_name: 'model-gateway notices',
    });
    client = mine;
    mine.on('error', () => lost(mine));
    mine.on('end', () => lost(mine));
    mine.on('notification', () => void poll());
    try {
      await mine.connect();
      await mine.query(`LISTEN ${noticeChannel}`);
      if (client !== mine) return;
      pauseMs = FIRST_PAUSE_MS;
      later(() => tryOut(mine), TRY_EVERY_MS);
      await poll();
    } catch {
      lost(mine);
    }
  }

  async function tryOut(mine: Client): Promise<void> {
    try {
      await mine.query('SELECT 1');
      if (client === mine) later(() => tryOut(mine), TRY_EVERY_MS);
    } catch {
      lost(mine);
    }
  }

  function lost(mine: Client): void {
    if (client !== mine) return;
    client = null;
    void mine.end().catch(() => undefined);
    if (closed) return;
    later(open, pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }

  function later(work: () => Promise<void>, delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void work(), delayMs);
    timer.unref();
  }

  void open();
  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      const last = client;
      client = null;
      await Promise.race([
        last?.end().catch(() => undefined),
        new Promise((resolve) => setTimeout(resolve, 1_000).unref()),
      ]);
    },
  };
}
