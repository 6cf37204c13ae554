import { z } from 'zod';
import { storedUsage } from '#lib/control/operations/call/stored-charge';
import type { Context } from '#lib/control/operations/declare';
import type { Price } from '#lib/core/metering/price-list';
import { repriced } from '#lib/core/metering/reprice';
import { formatUsd } from '#lib/core/money';
import { parsePrice } from '#lib/core/schemas/price';
import { storedCostLines } from '#lib/gateway/settlement/record/stored-lines';
import { idFloor, idTimeMs } from '#lib/platform/ids';

const days = 7;
const dayMs = 86_400_000;
/** Maximum of rows of the log to read, in total and at a time. */
const mostRows = 400_000;
const batchRows = 5_000;

const dollars = (description: string) => z.string().describe(`${description}, dollars.`);

export const shownEffect = z.object({
  from: z.iso.datetime().describe('Calls since then were checked.'),
  to: z.iso.datetime(),
  complete: z
    .boolean()
    .describe(
      `false: there were more than ${mostRows} calls in the 7 days, of which only the newest were checked.`,
    ),
  calls: z.int().describe('Charged calls of the offer that were priced again.'),
  charged: dollars('Charged for these calls'),
  preview: dollars('What they would have cost with the new price'),
  difference: dollars('preview minus charged'),
  unpriced: z
    .int()
    .describe(
      'Charged calls that cannot be priced again from the log: nested models, reduced or capped usage.',
    ),
  unpricedCharged: dollars('Charged for those calls'),
});
export type PriceEffect = z.output<typeof shownEffect>;

interface Row {
  id: string;
  price_version_id: string | null;
  cost_nano: string;
  usage: unknown;
  lines: unknown;
}

/**
 * The rows of a part of the log, newest first, and of them the charged ones of these price versions. Of other
 * rows, only these columns are read. A job is charged on its own row, an estimate by its adjustment.
 */
const batch = `
  WITH part AS (
    SELECT id, price_version_id, cost_nano, usage, lines FROM call
    WHERE id >= $1::uuid AND id < $2::uuid ORDER BY id DESC LIMIT $4::int)
  SELECT p.id::text AS id, v.version AS price_version_id,
    (p.cost_nano + coalesce(j.cost_nano, 0) + coalesce(a.amount_nano, 0))::text AS cost_nano,
    CASE WHEN a.call_id IS NOT NULL THEN a.usage WHEN j.call_id IS NOT NULL THEN j.usage ELSE p.usage END AS usage,
    CASE WHEN a.call_id IS NOT NULL THEN a.lines WHEN j.call_id IS NOT NULL THEN j.lines ELSE p.lines END AS lines
  FROM part p
    LEFT JOIN job j ON j.call_id = p.id AND j.settled_at IS NOT NULL AND j.usage_source <> 'none'
    LEFT JOIN adjustment a ON a.call_id = p.id AND a.settled_at IS NOT NULL
    CROSS JOIN LATERAL (SELECT coalesce(p.price_version_id, j.price_version_id)::text AS version) v
  WHERE v.version = ANY($3::text[])
  ORDER BY p.id DESC`;

/** Where a part of this many rows ends. */
const endOf = `
  SELECT count(*)::int AS rows, min(id::text) AS id FROM (
    SELECT id FROM call WHERE id >= $1::uuid AND id < $2::uuid ORDER BY id DESC LIMIT $3::int) AS part`;

/**
 * What the calls of the last 7 days would have cost with other prices, by offer: each call priced again by the function
 * that charges, in one pass over the newest rows of the log (contract: money/price-preview).
 * @param prices by offer id.
 */
export async function effectOf(
  { store, nowMs }: Pick<Context, 'store' | 'nowMs'>,
  prices: ReadonlyMap<string, Price>,
): Promise<ReadonlyMap<string, PriceEffect>> {
  const fromMs = nowMs - days * dayMs;
  const versions = await versionsOf(store, [...prices.keys()]);
  const sums = new Map([...prices.keys()].map((id) => [id, new Sum()]));
  const floor = idFloor(fromMs);
  let [before, looked, ended] = [idFloor(nowMs + 1), 0, versions.size === 0];
  while (!ended && looked < mostRows) {
    const [part] = await store.query<{ rows: number; id: string | null }>(endOf, [floor, before, batchRows]);
    if (!part || part.id === null) {
      ended = true;
      break;
    }
    const rows = await store.query<Row>(batch, [floor, before, [...versions.keys()], batchRows]);
    for (const row of rows) {
      const version = versions.get(row.price_version_id ?? '');
      const other = version && prices.get(version.offerId);
      if (version && other) sums.get(version.offerId)?.add(row, version.price, other);
    }
    [before, looked, ended] = [part.id, looked + part.rows, part.rows < batchRows];
  }
  const reachedMs = ended ? fromMs : idTimeMs(before);
  const span = {
    from: new Date(reachedMs).toISOString(),
    to: new Date(nowMs).toISOString(),
    complete: ended,
  };
  return new Map([...sums].map(([id, sum]) => [id, { ...span, ...sum.shown() }]));
}

interface Version {
  readonly offerId: string;
  readonly price: Price;
}

async function versionsOf(
  store: Context['store'],
  offers: readonly string[],
): Promise<ReadonlyMap<string, Version>> {
  const rows = await store.prisma.priceVersion.findMany({ where: { offerId: { in: [...offers] } } });
  return new Map(rows.map(({ id, offerId, price }) => [id, { offerId, price: parsePrice(price) }]));
}

class Sum {
  #calls = 0;
  #unpriced = 0;
  #charged = 0n;
  #preview = 0n;
  #unpricedCharged = 0n;

  add({ cost_nano, usage, lines }: Row, charged: Price, other: Price): void {
    const costNano = BigInt(cost_nano);
    const call = { usage: storedUsage(usage), lines: storedCostLines(lines), costNano };
    // Calls that were refused or broke before they used anything cost nothing at any price.
    if (costNano === 0n && call.lines.length === 0) return;
    const previewed = repriced(call, charged, other);
    if (previewed === null) {
      this.#unpriced += 1;
      this.#unpricedCharged += costNano;
      return;
    }
    this.#calls += 1;
    this.#charged += costNano;
    this.#preview += previewed;
  }

  shown() {
    return {
      calls: this.#calls,
      charged: formatUsd(this.#charged),
      preview: formatUsd(this.#preview),
      difference: formatUsd(this.#preview - this.#charged),
      unpriced: this.#unpriced,
      unpricedCharged: formatUsd(this.#unpricedCharged),
    };
  }
}
