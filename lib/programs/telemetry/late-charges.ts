import type { Pool } from 'pg';
import type { LateCharge } from '#lib/programs/telemetry/spans/charge-span';

/** How many rows are read at once. */
const mostRows = 2_000;
/** A transaction may commit this long after the moment that it wrote, and clocks may differ by as much; ms. */
const overlapMs = 60_000;

const ms = (column: string) => `floor(extract(epoch FROM ${column}) * 1000)::float8`;

const findJobs = `
  SELECT 'job' AS kind, call_id AS "callId", workspace_id AS "workspaceId", key_id AS "keyId", provider_id AS provider,
    model_id AS model, family, state, ${ms('created_at')} AS "startMs", ${ms('settled_at')} AS "settledMs",
    cost_nano::text AS cost, coalesce(usage, '{}') AS usage, usage_source AS "usageSource", flags,
    price_version_id AS "priceVersionId"
  FROM job WHERE settled_at > $1 ORDER BY settled_at LIMIT ${mostRows}`;

const findAdjustments = `
  SELECT 'adjustment' AS kind, call_id AS "callId", workspace_id AS "workspaceId", NULL AS "keyId", NULL AS provider,
    NULL AS model, NULL AS family, NULL AS state, ${ms('settled_at')} AS "startMs", ${ms('settled_at')} AS "settledMs",
    amount_nano::text AS cost, more AS usage, NULL AS "usageSource", flags, NULL AS "priceVersionId"
  FROM adjustment WHERE settled_at > $1 ORDER BY settled_at LIMIT ${mostRows}`;

type Row = Omit<LateCharge, 'operation' | 'costNano'> & {
  readonly family: string | null;
  readonly cost: string;
};

/** Charges that came after their calls had ended; a reader returns each of them once, as far as it remembers. */
export class LateCharges {
  readonly #pool: Pool;
  #toMs: number;
  /** Already sent, with their times. */
  readonly #told = new Map<string, number>();

  /** @param fromMs until when earlier readers sent them, ms since the epoch. */
  constructor(pool: Pool, fromMs: number) {
    this.#pool = pool;
    this.#toMs = fromMs;
  }

  /**
   * Those settled since the last `told`, and again those of the minute before a restart.
   * @returns `toMs`: the latest moment among them. @throws Error of the database.
   */
  async read(): Promise<{ readonly charges: readonly LateCharge[]; readonly toMs: number }> {
    const since = [new Date(this.#toMs - overlapMs).toISOString()];
    const jobs = await this.#pool.query<Row>(findJobs, since);
    const adjustments = await this.#pool.query<Row>(findAdjustments, since);
    const found = [...jobs.rows, ...adjustments.rows].map(chargeOf);
    const charges = found.filter((charge) => !this.#told.has(nameOf(charge)));
    // A full page ends before the newest charges, which come next.
    const whole = [jobs.rows, adjustments.rows].filter((rows) => rows.length === mostRows);
    const ends = whole.map((rows) => rows.at(-1)?.settledMs ?? 0);
    const latest = Math.max(this.#toMs, ...found.map(({ settledMs }) => settledMs));
    return { charges, toMs: ends.length > 0 ? Math.min(...ends) + overlapMs : latest };
  }

  /** The collector has them, or never will. */
  told(charges: readonly LateCharge[], toMs: number): void {
    this.#toMs = Math.max(this.#toMs, toMs);
    for (const charge of charges) this.#told.set(nameOf(charge), charge.settledMs);
    for (const [name, atMs] of this.#told) if (atMs < this.#toMs - 2 * overlapMs) this.#told.delete(name);
  }
}

function nameOf({ kind, callId }: LateCharge): string {
  return `${kind} ${callId}`;
}

/** The operation that creates jobs, by family. */
const makers: Readonly<Record<string, string>> = {
  videos: 'videos.create',
  responses: 'responses.create',
  'generate-content': 'content.predictLongRunning',
};

function chargeOf({ cost, family, ...facts }: Row): LateCharge {
  return { ...facts, operation: makers[family ?? ''] ?? null, costNano: BigInt(cost) };
}
