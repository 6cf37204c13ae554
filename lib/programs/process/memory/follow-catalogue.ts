import type { Pool } from 'pg';
import type { Catalogue } from '#lib/core/facts/snapshot';
import { type CatalogueSources, loadCatalogue } from '#lib/gateway/snapshot/catalogue';

/** How long a catalogue is used before it is read again, ms. */
const longestMs = 60_000;
/** When it is read again if the database did not answer, ms. */
const retryMs = 5_000;

/** How long until the next dated price of an offer in use comes into force, by the database's clock, ms. */
const nextPrice = `
  SELECT ceil(extract(epoch FROM min(v.effective_at) - clock_timestamp()) * 1000)::text AS ms
  FROM price_version v JOIN offer o ON o.id = v.offer_id
  WHERE v.effective_at > now() AND o.withdrawn_at IS NULL`;

/**
 * The catalogue that a process uses. It is read again whenever a dated price comes into force, which no change
 * announces (contract: money/dated-prices).
 * @throws if the database cannot answer the first time.
 */
export async function followCatalogue(
  pool: Pool,
  sources: CatalogueSources & { report(error: unknown): void },
) {
  let catalogue: Catalogue = { models: new Map(), providers: new Map() };
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  let [begun, taken] = [0, 0];
  let away = false;

  /**
   * Reads the catalogue again. If two reads run at once, the result of the later one counts, whichever ends first.
   * @throws if the database cannot answer; then the previous catalogue stays in force.
   */
  async function load(): Promise<void> {
    begun += 1;
    const turn = begun;
    // Queried before the catalogue is read, so that no price comes into force unnoticed between the two.
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
