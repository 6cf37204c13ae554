import type { Pool } from 'pg';
import type { Usage, UsageSource } from '#lib/core/metering/usage';
import type { LateCharge } from '#lib/programs/telemetry/spans/charge-span';

/** Read at once. */
const mostRows = 2_000;
/** A transaction may commit this long after the moment that it wrote, and clocks may differ by as much; ms. */
const overlapMs = 60_000;

const findJobs = `
  SELECT call_id, workspace_id, key_id, family, provider_id, model_id, state, created_at, settled_at,
    cost_nano::text AS cost, usage, usage_source, flags, price_version_id
  FROM job WHERE settled_at > $1 ORDER BY settled_at LIMIT ${mostRows}`;

const findAdjustments = `
  SELECT call_id, workspace_id, settled_at, amount_nano::text AS cost, flags, more
  FROM adjustment WHERE settled_at > $1 ORDER BY settled_at LIMIT ${mostRows}`;

interface JobRow {
  readonly call_id: string;
  readonly workspace_id: string;
  readonly key_id: string;
  readonly family: string;
  readonly provider_id: string;
  readonly model_id: string;
  readonly state: string;
  readonly created_at: Date;
  readonly settled_at: Date;
  readonly cost: string;
  readonly usage: Partial<Usage> | null;
  readonly usage_source: UsageSource;
  readonly flags: readonly string[];
  readonly price_version_id: string;
}

interface AdjustmentRow {
  readonly call_id: string;
  readonly workspace_id: string;
  readonly settled_at: Date;
  readonly cost: string;
  readonly flags: readonly string[];
  readonly more: Partial<Usage>;
}

/** Charges that came after their calls had ended, told once each by one reader as far as it remembers. */
export class LateCharges {
  readonly #pool: Pool;
  #toMs: number;
  /** Told already, with their moments. */
  readonly #told = new Map<string, number>();

  /** @param fromMs the moment up to which they were told of before, ms since the epoch. */
  constructor(pool: Pool, fromMs: number) {
    this.#pool = pool;
    this.#toMs = fromMs;
  }

  /**
   * Those settled since the last `told`, and once more those of the minute before a restart.
   * @returns `toMs`: the latest moment among them. @throws Error of the database.
   */
  async read(): Promise<{ readonly charges: readonly LateCharge[]; readonly toMs: number }> {
    const since = [new Date(this.#toMs - overlapMs).toISOString()];
    const jobs = await this.#pool.query<JobRow>(findJobs, since);
    const adjustments = await this.#pool.query<AdjustmentRow>(findAdjustments, since);
    const found = [...jobs.rows.map(jobOf), ...adjustments.rows.map(adjustmentOf)];
    const charges = found.filter((charge) => !this.#told.has(nameOf(charge)));
    // A full page ends before the newest: what lies behind it comes next.
    const whole = [jobs.rows, adjustments.rows].filter((rows) => rows.length === mostRows);
    const ends = whole.map((rows) => rows.at(-1)?.settled_at.getTime() ?? 0);
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

/** The operation that made a job of a family. */
const makers: Readonly<Record<string, string>> = {
  videos: 'videos.create',
  responses: 'responses.create',
  'generate-content': 'content.predictLongRunning',
};

function jobOf(row: JobRow): LateCharge {
  return {
    kind: 'job',
    callId: row.call_id,
    workspaceId: row.workspace_id,
    keyId: row.key_id,
    provider: row.provider_id,
    model: row.model_id,
    operation: makers[row.family] ?? null,
    state: row.state,
    startMs: row.created_at.getTime(),
    settledMs: row.settled_at.getTime(),
    costNano: BigInt(row.cost),
    usage: row.usage ?? {},
    usageSource: row.usage_source,
    flags: row.flags,
    priceVersionId: row.price_version_id,
  };
}

function adjustmentOf(row: AdjustmentRow): LateCharge {
  const settledMs = row.settled_at.getTime();
  return {
    kind: 'adjustment',
    callId: row.call_id,
    workspaceId: row.workspace_id,
    keyId: null,
    provider: null,
    model: null,
    operation: null,
    state: null,
    startMs: settledMs,
    settledMs,
    costNano: BigInt(row.cost),
    usage: row.more,
    usageSource: null,
    flags: row.flags,
    priceVersionId: null,
  };
}
