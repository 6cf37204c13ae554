import { randomUUID } from 'node:crypto';
import type { Caps, KeySnapshot, StoredLimits } from '#lib/core/facts/snapshot';
import type { ClaimRequest, Posted } from '#lib/gateway/admission/claim';
import { Coordinator } from '#lib/gateway/admission/coordinator';
import { createMoneyStore } from '#lib/gateway/admission/database/money-in-database';
import { type Clock, systemClock } from '#lib/platform/clock';
import { type Db, openDb } from '#lib/platform/data/db';
import type { AllowanceLimits } from '#lib/platform/env/part-settings';

const noLimits: StoredLimits = { rpm: null, tpm: null, concurrency: null };
const noCaps: Caps = { dayNano: null, d7Nano: null, d30Nano: null, quotaNano: null };

/** A key as admission reads it. */
export function snapshotOf(parts: {
  workspaceId?: string;
  keyId?: string;
  caps?: Partial<Caps>;
  limits?: Partial<StoredLimits>;
  workspaceLimits?: Partial<StoredLimits>;
  strict?: boolean;
  timeZone?: string;
}): KeySnapshot {
  return {
    key: {
      id: parts.keyId ?? randomUUID(),
      name: 'test',
      status: 'active',
      quotaExhausted: false,
      models: null,
      maxOutputTokens: null,
      caps: { ...noCaps, ...parts.caps },
      limits: { ...noLimits, ...parts.limits },
      expiresAtMs: null,
      ownerRemoved: false,
      sessionEnded: false,
    },
    workspace: {
      id: parts.workspaceId ?? randomUUID(),
      slug: 'test',
      timeZone: parts.timeZone ?? 'UTC',
      strict: parts.strict ?? false,
      suspended: false,
      limits: { ...noLimits, ...parts.workspaceLimits },
    },
    policies: new Map(),
    content: null,
    secretUntilMs: null,
  };
}

/** Inserts a workspace with one key. @returns the snapshot of both. */
export async function makeWorkspace(
  db: Db,
  parts: Parameters<typeof snapshotOf>[0] & {
    balanceNano?: bigint;
    creditNano?: bigint;
    simulatedNano?: bigint;
    budgetNano?: bigint;
    budgetMode?: 'warning' | 'hard';
  },
): Promise<KeySnapshot> {
  const snapshot = snapshotOf(parts);
  const { workspace } = snapshot;
  await db.pool.query(
    `INSERT INTO workspace (id, slug, name, time_zone, balance_nano, credit_nano, simulated_nano, budget_nano, budget_mode)
     VALUES ($1, $2, 'test', $3, $4, $5, $6, $7, $8)`,
    [
      workspace.id,
      `w-${workspace.id}`,
      workspace.timeZone,
      `${parts.balanceNano ?? 0n}`,
      `${parts.creditNano ?? 0n}`,
      `${parts.simulatedNano ?? 0n}`,
      parts.budgetNano === undefined ? null : `${parts.budgetNano}`,
      parts.budgetMode ?? 'hard',
    ],
  );
  await makeKey(db, snapshot);
  return snapshot;
}

/** Inserts the key of a snapshot into an existing workspace. */
export async function makeKey(db: Db, { key, workspace }: KeySnapshot): Promise<void> {
  const text = (value: bigint | null) => (value === null ? null : `${value}`);
  await db.pool.query(
    `INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end, daily_cap_nano, d7_cap_nano, d30_cap_nano, quota_nano)
     VALUES ($1, $2, 'test', decode(md5($1::uuid::text), 'hex'), 'mg_test', 'test', $3, $4, $5, $6)`,
    [
      key.id,
      workspace.id,
      text(key.caps.dayNano),
      text(key.caps.d7Nano),
      text(key.caps.d30Nano),
      text(key.caps.quotaNano),
    ],
  );
}

export function requestOf(
  snapshot: KeySnapshot,
  holdNano: bigint,
  extra: Partial<ClaimRequest> = {},
): ClaimRequest {
  return {
    callId: randomUUID(),
    atMs: Date.now(),
    snapshot,
    need: 'generate',
    holdNano,
    tokens: 0,
    ...extra,
  };
}

/**
 * A stopped clock: no window moves on, and a late process is not given up, however busy the machine. No
 * heartbeat is due either, so tests must end before others consider the process dead, 45 s.
 */
export function stillClock(): Clock {
  const [nowMs, nowMono] = [Date.now(), Math.ceil(performance.now())];
  return { now: () => nowMs, mono: () => nowMono };
}

/** A charge, and whether the simulated provider answered the call. */
export type Charged = Posted & { readonly simulated?: boolean };

/** A process as far as admission is concerned: an owner, its coordinator, and a drain that the test runs. */
export interface Node {
  readonly coordinator: Coordinator;
  readonly ownerId: string;
  readonly db: Db;
  /** Statements that have reached the database. */
  statements(): number;
  /** Errors that were reported. */
  readonly errors: unknown[];
  /** Posts charges as the drain does: one transaction, then notifies the coordinator. */
  post(calls: readonly Charged[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startNode(
  url: string,
  parts: { flush?: (node: Node) => Promise<void>; clock?: Clock; outage?: AllowanceLimits } = {},
): Promise<Node> {
  const ownerId = randomUUID();
  const db = openDb(url, { max: 4 });
  let statements = 0;
  db.pool.on('connect', (client) => {
    const query = client.query.bind(client);
    Object.assign(client, {
      query: (...args: Parameters<typeof query>) => {
        statements++;
        return query(...args);
      },
    });
  });
  const errors: unknown[] = [];
  const coordinator = new Coordinator({
    clock: parts.clock ?? systemClock,
    money: createMoneyStore(db, ownerId),
    flushSettlement: async () => parts.flush?.(node),
    ...(parts.outage && { outage: parts.outage }),
    report: (error) => errors.push(error),
  });
  const node: Node = {
    coordinator,
    ownerId,
    db,
    errors,
    statements: () => statements,
    post: async (calls) => {
      await postCharges(db, ownerId, calls);
      coordinator.posted(calls);
    },
    stop: async () => {
      await coordinator.close();
      await db.close();
    },
  };
  await coordinator.start();
  return node;
}

/** Runs a round of housekeeping that sees the current state: one that began earlier may still be running. */
export async function maintain({ coordinator }: Pick<Node, 'coordinator'>): Promise<void> {
  await coordinator.maintain();
  await coordinator.maintain();
}

async function postCharges(db: Db, ownerId: string, calls: readonly Charged[]): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query('BEGIN');
    for (const call of calls) {
      const charge = `${call.chargeNano}`;
      await client.query(
        `UPDATE workspace SET balance_nano = balance_nano - $2,
           simulated_nano = simulated_nano - CASE WHEN $3 THEN least(simulated_nano, $2) ELSE 0 END WHERE id = $1`,
        [call.workspaceId, charge, call.simulated === true],
      );
      await client.query('UPDATE api_key SET spent_nano = spent_nano + $2 WHERE id = $1', [
        call.keyId,
        charge,
      ]);
      if (call.funding === 'lease') {
        await client.query(
          `UPDATE lease SET granted_nano = greatest(0, granted_nano - $4) WHERE owner_id = $1
           AND ((kind = 'workspace' AND subject_id = $2) OR (kind = 'key' AND subject_id = $3))`,
          [ownerId, call.workspaceId, call.keyId, charge],
        );
      }
      await client.query('DELETE FROM hold WHERE call_id = $1', [call.callId]);
      await client.query(
        `INSERT INTO spend_minute (key_id, minute, spent_nano) VALUES ($1, date_trunc('minute', now()), $2)
         ON CONFLICT (key_id, minute) DO UPDATE SET spent_nano = spend_minute.spent_nano + excluded.spent_nano`,
        [call.keyId, charge],
      );
    }
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

/** The sums of a workspace's rows, nano-dollars. */
export async function moneyOf(
  db: Db,
  workspaceId: string,
): Promise<{ free: bigint; rows: bigint; leased: bigint }> {
  const { rows } = await db.pool.query<Record<'total' | 'rows' | 'leased', string>>(
    `SELECT balance_nano + credit_nano AS total,
       (SELECT coalesce(sum(amount_nano), 0) FROM hold WHERE workspace_id = w.id) AS rows,
       (SELECT coalesce(sum(granted_nano), 0) FROM lease WHERE kind = 'workspace' AND subject_id = w.id) AS leased
     FROM workspace w WHERE id = $1`,
    [workspaceId],
  );
  const row = rows[0];
  if (!row) throw new Error('no such workspace');
  const held = BigInt(row.rows);
  const leased = BigInt(row.leased);
  return { free: BigInt(row.total) - held - leased, rows: held, leased };
}
