import { hostname } from 'node:os';
import { fundOnce, writeHolds } from '#lib/gateway/admission/database/fund';
import type {
  FundAnswer,
  FundRequest,
  HeldLease,
  LeaseRef,
  LeaseState,
  MoneyStore,
} from '#lib/gateway/admission/money-store';
import { isDatabaseAway } from '#lib/platform/data/database-errors';
import type { Db } from '#lib/platform/data/db';
import { queryWithin } from '#lib/platform/data/query-within';

/** An owner that has not been heard from for this long may be closed by others. */
const OWNER_LIFE = `interval '45 seconds'`;
/** Deadlock, serialization failure: nothing happened, try again. */
const RETRYABLE = new Set(['40P01', '40001']);
const TRIES = 3;
/** As long as a transaction for money may take: the heartbeat must come round in time. */
const QUERY_MS = 4_000;

/** What others learn of a process. */
interface ProcessFacts {
  /** Of the program. */
  readonly version?: string;
  /** Of the encryption keys that it opens secrets with (contract: operations/secret-rotation). */
  readonly keyPrints?: readonly string[];
}

/**
 * Leases and holds in PostgreSQL (contract: money/leases). All times of owners are the database's own, so
 * that no process's clock closes another's leases.
 * @param ownerId UUID of this process.
 */
export function createMoneyStore(
  db: Db,
  ownerId: string,
  { version, keyPrints }: ProcessFacts = {},
): MoneyStore {
  let epoch = 0;
  const query = queryWithin(db.pool, QUERY_MS);

  return {
    isAway: isDatabaseAway,

    async register(fresh) {
      const result = await query<{ epoch: number }>(
        `WITH leases AS (DELETE FROM lease WHERE owner_id = $1),
           holds AS (DELETE FROM hold WHERE owner_id = $1 AND $4::boolean)
         INSERT INTO owner (id, machine, pid, expires_at, version, key_prints)
         VALUES ($1, $2, $3, now() + ${OWNER_LIFE}, $5, $6::text[])
         ON CONFLICT (id) DO UPDATE SET epoch = owner.epoch + 1, machine = excluded.machine,
           pid = excluded.pid, started_at = now(), expires_at = excluded.expires_at, version = excluded.version,
           key_prints = excluded.key_prints
         RETURNING epoch`,
        [ownerId, hostname(), process.pid, fresh, version ?? null, keyPrints ?? null],
      );
      epoch = result.rows[0]?.epoch ?? 0;
    },

    async beat() {
      const result = await query(
        `UPDATE owner SET expires_at = now() + ${OWNER_LIFE} WHERE id = $1 AND epoch = $2`,
        [ownerId, epoch],
      );
      return result.rowCount === 1;
    },

    async reportHeld(leases) {
      // SKIP LOCKED: a row that the drain has locked is reported a second later, and nothing deadlocks.
      const result = await query<{ kind: LeaseRef['kind']; subject_id: string }>(
        `WITH news AS (
           SELECT l.owner_id, l.kind, l.subject_id, n.held
           FROM lease l JOIN unnest($2::text[], $3::uuid[], $4::bigint[]) AS n (kind, subject_id, held)
             ON l.kind = n.kind AND l.subject_id = n.subject_id
           WHERE l.owner_id = $1 FOR UPDATE OF l SKIP LOCKED
         ), told AS (
           UPDATE lease l SET held_nano = news.held FROM news
           WHERE l.owner_id = news.owner_id AND l.kind = news.kind AND l.subject_id = news.subject_id
             AND l.held_nano <> news.held
         )
         SELECT kind, subject_id FROM lease WHERE owner_id = $1 AND recalled_at IS NOT NULL`,
        [ownerId, ...columnsOf(leases)],
      );
      return result.rows.map((row) => ({ kind: row.kind, subjectId: row.subject_id }));
    },

    fund: (request) => fund(db, request, ownerId, epoch),

    async awaiting(refs) {
      const result = await query<{ open: boolean }>(
        `SELECT EXISTS (
           SELECT 1 FROM lease l JOIN unnest($2::text[], $3::uuid[]) AS r (kind, subject_id)
             ON l.kind = r.kind AND l.subject_id = r.subject_id
           WHERE l.owner_id <> $1 AND l.recalled_at IS NOT NULL) AS open`,
        [ownerId, refs.map((ref) => ref.kind), refs.map((ref) => ref.subjectId)],
      );
      return result.rows[0]?.open === true;
    },

    async giveBack({ kind, subjectId, heldNano }) {
      // One row per statement: it may wait for the drain's locks, but the two cannot deadlock.
      const of = 'WHERE owner_id = $1 AND kind = $2 AND subject_id = $3';
      const values = [ownerId, kind, subjectId];
      if (heldNano <= 0n) await query(`DELETE FROM lease ${of}`, values);
      else {
        await query(
          `UPDATE lease SET granted_nano = least(granted_nano, $4::bigint), held_nano = $4::bigint,
             recalled_at = NULL ${of}`,
          [...values, heldNano.toString()],
        );
      }
    },

    async addHolds(calls) {
      const rows = calls.map(({ workspaceId, ...call }) =>
        writeHolds([{ ...call, capped: false, mustFit: false, mode: 'claim-row' }], workspaceId, ownerId),
      );
      if (rows.length > 0) await query(rows.join(''), []);
    },

    async removeHolds(callIds) {
      // Without an owner it is a job's, which ends it.
      await query('DELETE FROM hold WHERE call_id = ANY ($1::uuid[]) AND owner_id IS NOT NULL', [callIds]);
    },

    async freesAt(spender, hours, capNano, atMs) {
      const [table, owner, column, spent, width, id] =
        'keyId' in spender
          ? (['spend_minute', 'key_id', 'minute', 'spent_nano', '1 minute', spender.keyId] as const)
          : (['tag_quarter', 'tag_id', 'quarter', 'cost_nano', '15 minutes', spender.tagId] as const);
      const result = await query<{ ms: string | null }>(
        `SELECT extract(epoch FROM max(${column}) + interval '${width}' + $2::int * interval '1 hour') * 1000 AS ms
         FROM (
           SELECT ${column}, sum(${spent}) OVER (ORDER BY ${column} DESC) AS newer FROM ${table}
           WHERE ${owner} = $1
             AND ${column} > $4::timestamptz - $2::int * interval '1 hour' - interval '${width}'
         ) AS spend WHERE newer >= $3::bigint`,
        [id, hours, capNano.toString(), new Date(atMs).toISOString()],
      );
      const ms = result.rows[0]?.ms ?? null;
      return ms === null ? null : Number(ms);
    },

    async closeExpired() {
      await query('DELETE FROM owner WHERE expires_at < now() AND id <> $1', [ownerId]);
      // Holds of jobs have no owner and outlive every process.
      await query(
        `DELETE FROM hold h WHERE owner_id IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM owner o WHERE o.id = h.owner_id)`,
      );
    },

    async leave() {
      await query(
        `DELETE FROM owner o WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM lease WHERE owner_id = o.id)
           AND NOT EXISTS (SELECT 1 FROM hold WHERE owner_id = o.id)`,
        [ownerId],
      );
    },
  };
}

async function fund(db: Db, request: FundRequest, ownerId: string, epoch: number): Promise<FundAnswer> {
  for (let tries = 1; ; tries++) {
    try {
      return await fundOnce(db, request, ownerId, epoch);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (tries >= TRIES || !RETRYABLE.has(code)) throw error;
    }
  }
}

function columnsOf(leases: readonly HeldLease[]): [string[], string[], string[]] {
  return [
    leases.map((lease) => lease.kind),
    leases.map((lease) => lease.subjectId),
    leases.map((lease) => (lease.heldNano > 0n ? lease.heldNano : 0n).toString()),
  ];
}

/** The owner of the holds of all processes without leases: it never expires, their calls do. */
export const ROW_OWNER = '00000000-0000-7000-8000-000000000001';
const ROW_EPOCH = 1;

/**
 * Money of a process that settles without a journal (contract: durability/settlement-modes): every hold is a row, nothing
 * is leased, and nothing depends on the process being heard from.
 */
export function createRowMoney(db: Db): MoneyStore {
  const base = createMoneyStore(db, ROW_OWNER);
  const query = queryWithin(db.pool, QUERY_MS);
  const unleased = (state: LeaseState): LeaseState => ({ ...state, grantable: false });
  return {
    ...base,
    async register() {
      await query(
        `INSERT INTO owner (id, machine, pid, epoch, expires_at)
         VALUES ($1, 'processes without leases', 0, ${ROW_EPOCH}, '9999-01-01') ON CONFLICT (id) DO NOTHING`,
        [ROW_OWNER],
      );
    },
    beat: async () => true,
    fund(request) {
      const { workspace, keys } = request;
      const rows = { ...request, workspace: unleased(workspace), keys: keys.map(unleased) };
      return fund(db, rows, ROW_OWNER, ROW_EPOCH);
    },
    reportHeld: async () => [],
    giveBack: async () => {},
    async removeHolds(callIds) {
      await query('DELETE FROM open_call WHERE call_id = ANY ($1::uuid[])', [callIds]);
      await base.removeHolds(callIds);
    },
    leave: async () => {},
  };
}
