import type { Pool } from 'pg';
import type { Catalogue } from '#lib/core/facts/snapshot';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import type { CatalogueSources } from '#lib/gateway/snapshot/provider';

/** How long a catalogue is used at most before it is read anew, ms. */
const longestMs = 60_000;
/** When it is read again after the database did not answer, ms. */
const retryMs = 5_000;

/** How long it is until a price of an offer in use comes into force by its date, by the database's clock, ms. */
const nextPrice = `
  SELECT ceil(extract(epoch FROM min(v.effective_at) - clock_timestamp()) * 1000)::text AS ms
  FROM price_version v JOIN offer o ON o.id = v.offer_id
  WHERE v.effective_at > now() AND o.withdrawn_at IS NULL`;

/** The catalogue that a process goes by. */
export interface FollowedCatalogue {
  inForce(): Catalogue;
  /** Reads it anew. @throws when the database cannot answer; then the one before stays in force. */
  load(): Promise<void>;
  stop(): void;
}

/**
 * Reads the catalogue, and reads it anew whenever a price comes into force by its date, which no change announces
 * (contract: money/dated-prices). @throws when the database cannot answer the first time.
 */
export async function followCatalogue(
  pool: Pool,
  sources: CatalogueSources & { report(error: unknown): void },
): Promise<FollowedCatalogue> {
  let catalogue: Catalogue = { models: new Map(), providers: new Map() };
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  let [begun, taken] = [0, 0];
  let away = false;

  /** Of two at once the one that began later counts, whichever ends first: it has seen what the other one has. */
  async function load(): Promise<void> {
    begun += 1;
    const turn = begun;
    // Asked before the catalogue is read, so that no price comes into force between the two unseen.
    const { rows } = await pool.query<{ ms: string | null }>(nextPrice);
    const loaded = await loadCatalogue(pool, sources);
    away = false;
    if (turn < taken) return;
    [catalogue, taken] = [loaded, turn];
    wakeIn(Math.max(1, Math.min(longestMs, Number(rows[0]?.ms ?? longestMs))));
  }

  function wakeIn(ms: number): void {
    if (timer !== null) clearTimeout(timer);
    if (!stopped) timer = setTimeout(wake, ms).unref();
  }

  async function wake(): Promise<void> {
    try {
      await load();
    } catch (error) {
      if (!away) sources.report(error);
      away = true;
      wakeIn(retryMs);
    }
  }

  await load();
  return {
    inForce: () => catalogue,
    load,
    stop: () => {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
