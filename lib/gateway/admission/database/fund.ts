import type { QueryResult } from 'pg';
import { monthOf } from '#lib/core/charts/ranges';
import { knownZone } from '#lib/core/charts/zone';
import {
  type CappedTag,
  endingSeconds,
  type FundAnswer,
  type FundRequest,
  type Grant,
  type HoldRequest,
  type LeaseRef,
} from '#lib/gateway/admission/money-store';
import {
  apportion,
  type BudgetRoom,
  type CapRoom,
  type LockedFunds,
  noneSimulated,
  type TagFunds,
} from '#lib/gateway/admission/pure/apportion';
import { postedOfCalls } from '#lib/gateway/ledger/posted';
import { publish } from '#lib/platform/data/change';
import type { Db } from '#lib/platform/data/db';
import { moment, nano, text, uuid } from '#lib/platform/data/literals';

/** A server that does not answer is given up after this; the connection is then closed. */
const QUERY_MS = 4_000;

/**
 * One transaction for all holds of a workspace: lock, read, share out, write. Two round trips.
 * @throws when it failed; a COMMIT whose answer was lost may have happened.
 */
export async function fundOnce(
  db: Db,
  request: FundRequest,
  ownerId: string,
  epoch: number,
): Promise<FundAnswer> {
  const client = await db.pool.connect();
  try {
    const read = readFunds(await client.query(timed(lockAndRead(request, ownerId, epoch))), request);
    if (!read.alive) {
      await client.query('ROLLBACK');
      client.release();
      return { alive: false, answers: [], grants: [], left: [], owners: read.owners };
    }
    const parts = apportion(request, read.workspace, read.keys, read.owners);
    const writes: string[] = [];
    for (const state of [request.workspace, ...request.keys]) {
      const funds = state === request.workspace ? read.workspace : read.keys.get(state.subjectId);
      if (!funds) continue;
      const grant = parts.grants.get(funds);
      const keep = state.reclaim ? state.keepNano : null;
      if (grant || keep !== null) writes.push(writeLease(funds, ownerId, keep, grant));
    }
    const rows = request.holds.filter((_, position) => parts.answers[position]?.kind === 'row');
    writes.push(writeHolds(rows, request.workspaceId, ownerId));
    const recalls = request.recall ? parts.recalls : [];
    if (recalls.length > 0) {
      await client.query(timed(writes.join('') + writeRecalls(recalls, ownerId)));
      await publish(
        client,
        recalls.map((ref) => ({ kind: 'lease', subject: `${ref.kind}:${ref.subjectId}` })),
      );
      await client.query('COMMIT');
    } else {
      await client.query(timed(`${writes.join('')} COMMIT`));
    }
    client.release();
    return {
      alive: true,
      answers: parts.answers,
      grants: listed(parts.grants),
      left: listed(parts.left),
      owners: read.owners,
    };
  } catch (error) {
    // Closing the connection ends its transaction, whatever state it is in.
    client.release(true);
    throw error;
  }
}

function timed(text: string): { text: string; query_timeout: number } {
  return { text, query_timeout: QUERY_MS };
}

function listed<Value extends object>(values: ReadonlyMap<LeaseRef, Value>): (LeaseRef & Value)[] {
  return [...values].map(([{ kind, subjectId }, value]) => ({ kind, subjectId, ...value }));
}

/** Locks workspace, then capped keys, and reads what they hold; rows are always locked in this order. */
function lockAndRead(request: FundRequest, ownerId: string, epoch: number): string {
  const me = uuid(ownerId);
  const workspace = uuid(request.workspaceId);
  const keys = request.keys.map((key) => uuid(key.subjectId)).join(', ');
  const lockKeys = keys ? `SELECT 1 FROM api_key WHERE id IN (${keys}) ORDER BY id FOR NO KEY UPDATE;` : '';
  return `BEGIN;
    SET LOCAL lock_timeout = '2s'; SET LOCAL statement_timeout = '3s';
    SELECT 1 FROM workspace WHERE id = ${workspace} FOR NO KEY UPDATE;
    ${lockKeys}
    SELECT 1 FROM owner WHERE id = ${me} FOR KEY SHARE;
    SELECT 'workspace' AS funds, w.balance_nano + w.credit_nano - ${expiring(0)} AS settled,
      ${expiring(endingSeconds)} - ${expiring(0)} AS ending, w.simulated_nano, w.budget_nano, w.budget_mode = 'hard' AS budget_hard, open.*, leases.*,
      CASE WHEN w.budget_mode = 'hard' AND w.budget_nano IS NOT NULL THEN ${postedIn(request)} END AS month_spent,
      (SELECT count(*) FROM owner WHERE expires_at > now()) AS owners,
      EXISTS (SELECT 1 FROM owner WHERE id = ${me} AND epoch = ${epoch} AND expires_at > now()) AS alive
    FROM workspace w ${leased('workspace', 'w.id', me)}
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount_nano), 0) AS rows_all,
        coalesce(sum(amount_nano) FILTER (WHERE simulated), 0) AS rows_simulated
      FROM hold WHERE workspace_id = w.id
    ) AS open
    WHERE w.id = ${workspace};
    ${keys ? readKeys(keys, request, me) : ''}${readTags(cappedTags(request), request)}`;
}

function monthOfRequest({ atMs, timeZone }: FundRequest): { readonly fromMs: number; readonly toMs: number } {
  return monthOf(atMs, knownZone(timeZone));
}

/** What the ledger posted for calls in the month of a request, at most one line for each quarter of an hour. */
function postedIn(request: FundRequest): string {
  const { fromMs, toMs } = monthOfRequest(request);
  return postedOfCalls('w.id', moment(fromMs), moment(toMs));
}

/** What is left of promo credits that have expired, or will so many seconds from now; most workspaces have none. */
function expiring(seconds: number): string {
  const until = `now() + interval '${seconds} seconds'`;
  return `(CASE WHEN w.promo_ends_at <= ${until} THEN promo_left(w.id, ${until}) ELSE 0 END)`;
}

/** Joined: what is leased to this owner and to all others, and what of it was granted out of simulated money too. */
function leased(kind: string, subject: string, me: string): string {
  const sum = (which: string) => `coalesce(sum(granted_nano) FILTER (WHERE ${which}), 0)`;
  return `CROSS JOIN LATERAL (
      SELECT ${sum(`owner_id = ${me}`)} AS own, ${sum(`owner_id <> ${me}`)} AS others,
        ${sum(`owner_id = ${me} AND simulated`)} AS own_simulated,
        ${sum(`owner_id <> ${me} AND simulated`)} AS others_simulated
      FROM lease WHERE kind = '${kind}' AND subject_id = ${subject}
    ) AS leases`;
}

/**
 * Sliding windows keep a whole minute until all of it is out, so they never count short. A day starts
 * at local midnight; if the clock is turned back across midnight there are two, and the first counts.
 */
function readKeys(keys: string, request: FundRequest, me: string): string {
  const at = moment(request.atMs);
  const since = (hours: number): string => `${at} - interval '${hours} hours' - interval '1 minute'`;
  return `WITH ${todayOf(request)}
    SELECT 'key' AS funds, k.id, k.daily_cap_nano, k.d7_cap_nano, k.d30_cap_nano, k.quota_nano, k.spent_nano,
      extract(epoch FROM today.next) * 1000 AS day_ends_ms, spend.*, open.*, leases.*
    FROM api_key k CROSS JOIN today ${leased('key', 'k.id', me)}
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(spent_nano) FILTER (WHERE minute >= today.start), 0) AS spent_day,
        coalesce(sum(spent_nano) FILTER (WHERE minute > ${since(168)}), 0) AS spent_d7,
        coalesce(sum(spent_nano) FILTER (WHERE minute > ${since(720)}), 0) AS spent_d30
      FROM spend_minute s WHERE s.key_id = k.id AND s.minute >= CASE
        WHEN k.d30_cap_nano IS NOT NULL THEN ${since(720)}
        WHEN k.d7_cap_nano IS NOT NULL THEN ${since(168)} ELSE today.start END
    ) AS spend
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount_nano) FILTER (WHERE admitted_at >= today.start), 0) AS rows_day,
        coalesce(sum(amount_nano), 0) AS rows_all
      FROM hold h WHERE h.key_id = k.id
    ) AS open
    WHERE k.id IN (${keys});`;
}

/** The day of a request in its zone, as the common table `today`. */
function todayOf(request: FundRequest): string {
  const at = moment(request.atMs);
  const zone = text(request.timeZone);
  return `midnight AS (
      SELECT local, local AT TIME ZONE ${zone} AS start, (local + interval '1 day') AT TIME ZONE ${zone} AS next
      FROM (SELECT date_trunc('day', ${at} AT TIME ZONE ${zone}) AS local) AS here
    ), today AS (
      SELECT next, CASE WHEN (start - interval '1 hour') AT TIME ZONE ${zone} = local
        THEN start - interval '1 hour' ELSE start END AS start
      FROM midnight
    )`;
}

/** The tags of all holds that have budgets, by id. */
function cappedTags({ holds }: FundRequest): ReadonlyMap<string, CappedTag> {
  return new Map(holds.flatMap(({ tags = [] }) => tags.map((tag) => [tag.id, tag] as const)));
}

/**
 * What was spent and is held for tags with budgets; the lock of the workspace keeps it still. Days begin at whole
 * quarters; sliding windows keep a whole quarter until all of it is out.
 */
function readTags(tags: ReadonlyMap<string, CappedTag>, request: FundRequest): string {
  if (tags.size === 0) return '';
  const at = moment(request.atMs);
  const since = (hours: number): string => `${at} - interval '${hours} hours' - interval '15 minutes'`;
  const rows = [...tags.values()].map(({ id, caps }) => {
    const hours = caps.d30Nano !== null ? 720 : caps.d7Nano !== null ? 168 : 26;
    return `(${uuid(id)}, ${since(hours)})`;
  });
  return `WITH ${todayOf(request)}
    SELECT 'tag' AS funds, t.id::text AS id, extract(epoch FROM today.next) * 1000 AS day_ends_ms, spend.*, open.*
    FROM (VALUES ${rows.join(', ')}) AS t (id, since) CROSS JOIN today
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(cost_nano) FILTER (WHERE quarter >= today.start), 0) AS spent_day,
        coalesce(sum(cost_nano) FILTER (WHERE quarter > ${since(168)}), 0) AS spent_d7,
        coalesce(sum(cost_nano) FILTER (WHERE quarter > ${since(720)}), 0) AS spent_d30
      FROM tag_quarter q WHERE q.tag_id = t.id AND q.quarter > t.since
    ) AS spend
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(h.amount_nano) FILTER (WHERE h.admitted_at >= today.start), 0) AS rows_day,
        coalesce(sum(h.amount_nano), 0) AS rows_all
      FROM hold_tag ht JOIN hold h ON h.call_id = ht.call_id WHERE ht.tag_id = t.id
    ) AS open;`;
}

function tagFunds(row: Row, tag: CappedTag): TagFunds {
  const { dayNano, d7Nano, d30Nano } = tag.caps;
  const all = { rows: row.rows_all, freesAtMs: null };
  return {
    tag,
    caps: [
      ...capOf('day_limit_reached', dayNano, row.spent_day, {
        rows: row.rows_day,
        freesAtMs: Number(row.day_ends_ms),
      }),
      ...capOf('d7_limit_reached', d7Nano, row.spent_d7, all),
      ...capOf('d30_limit_reached', d30Nano, row.spent_d30, all),
    ],
  };
}

interface Read {
  readonly alive: boolean;
  readonly owners: number;
  readonly workspace: LockedFunds;
  readonly keys: ReadonlyMap<string, LockedFunds>;
}

type Row = Readonly<Record<string, unknown>>;

/** pg gives an array of results for a query of several statements, its types do not say so. */
function resultsOf(answer: unknown): readonly QueryResult<Row>[] {
  return answer as readonly QueryResult<Row>[];
}

/** Reads the answer of `lockAndRead`; a workspace that is gone owns nothing. */
function readFunds(answer: unknown, request: FundRequest): Read {
  const rows = resultsOf(answer).flatMap((result) => result.rows);
  const row = rows.find((one) => one.funds === 'workspace');
  const keys = rows.filter((one) => one.funds === 'key').map(keyFunds);
  const asked = cappedTags(request);
  const tags = rows.flatMap((one) => {
    const tag = one.funds === 'tag' ? asked.get(String(one.id)) : undefined;
    return tag ? [[tag.id, tagFunds(one, tag)] as const] : [];
  });
  return {
    alive: row === undefined || row.alive === true,
    owners: Number(row?.owners ?? 1),
    workspace: {
      kind: 'workspace',
      subjectId: request.workspaceId,
      ownNano: amount(row?.own),
      othersNano: amount(row?.others),
      settledNano: amount(row?.settled),
      endingNano: amount(row?.ending),
      rowsNano: amount(row?.rows_all),
      simulated: {
        settledNano: amount(row?.simulated_nano),
        rowsNano: amount(row?.rows_simulated),
        ownNano: amount(row?.own_simulated),
        othersNano: amount(row?.others_simulated),
      },
      caps: [],
      budget: row === undefined ? null : budgetOf(row, request),
      tags: new Map(tags),
    },
    keys: new Map(keys.map((funds) => [funds.subjectId, funds])),
  };
}

function budgetOf(row: Row, request: FundRequest): BudgetRoom | null {
  if (row.budget_hard !== true || row.budget_nano === null) return null;
  return {
    budgetNano: amount(row.budget_nano),
    settledNano: amount(row.month_spent),
    endsAtMs: monthOfRequest(request).toMs,
  };
}

/** One cap of a key or tag; none if it has no bound. */
function capOf(
  code: CapRoom['code'],
  bound: unknown,
  spent: unknown,
  { rows, freesAtMs }: { readonly rows: unknown; readonly freesAtMs: number | null },
): CapRoom[] {
  if (bound === null) return [];
  return [{ code, capNano: amount(bound), settledNano: amount(spent), rowsNano: amount(rows), freesAtMs }];
}

function keyFunds(row: Row): LockedFunds {
  const today = { rows: row.rows_day, freesAtMs: Number(row.day_ends_ms) };
  const all = { rows: row.rows_all, freesAtMs: null };
  return {
    kind: 'key',
    subjectId: String(row.id),
    ownNano: amount(row.own),
    othersNano: amount(row.others),
    settledNano: 0n,
    endingNano: 0n,
    rowsNano: 0n,
    simulated: noneSimulated,
    caps: [
      ...capOf('day_limit_reached', row.daily_cap_nano, row.spent_day, today),
      ...capOf('d7_limit_reached', row.d7_cap_nano, row.spent_d7, all),
      ...capOf('d30_limit_reached', row.d30_cap_nano, row.spent_d30, all),
      ...capOf('quota_exceeded', row.quota_nano, row.spent_nano, all),
    ],
    budget: null,
  };
}

/** pg gives BIGINT and sums as decimal strings. */
function amount(value: unknown): bigint {
  return value === undefined || value === null ? 0n : BigInt(String(value));
}

/** @returns statements that keep `keepNano` of a lease (null: all of it) and add a grant. */
function writeLease(ref: LeaseRef, ownerId: string, keepNano: bigint | null, grant?: Grant): string {
  const kept = keepNano === null ? 'l.granted_nano' : `least(l.granted_nano, ${nano(keepNano)})`;
  const where = `l.owner_id = ${uuid(ownerId)} AND l.kind = ${text(ref.kind)} AND l.subject_id = ${uuid(ref.subjectId)}`;
  if (!grant) {
    return `UPDATE lease l SET granted_nano = ${kept}, recalled_at = NULL WHERE ${where};`;
  }
  const { grantedNano, simulated } = grant;
  return `INSERT INTO lease AS l (owner_id, kind, subject_id, granted_nano, simulated)
    VALUES (${uuid(ownerId)}, ${text(ref.kind)}, ${uuid(ref.subjectId)}, ${nano(grantedNano)}, ${simulated})
    ON CONFLICT (owner_id, kind, subject_id) DO UPDATE
      SET granted_nano = ${kept} + ${nano(grantedNano)}, simulated = excluded.simulated;`;
}

/** Hold rows of new calls, and more for running ones whose row is still there. */
export function writeHolds(holds: readonly HoldRequest[], workspaceId: string, ownerId: string): string {
  const rows = holds
    .filter((hold) => hold.mode === 'claim' || hold.mode === 'claim-row')
    .map(
      (hold) =>
        `(${uuid(hold.callId)}, ${uuid(ownerId)}, ${uuid(workspaceId)}, ${uuid(hold.keyId)}, ${nano(hold.amountNano)}, ${moment(hold.atMs)}, ${hold.simulated === true})`,
    );
  const growths = holds
    .filter((hold) => hold.mode === 'grow-row')
    .map(
      (hold) =>
        `UPDATE hold SET amount_nano = amount_nano + ${nano(hold.amountNano)}
         WHERE call_id = ${uuid(hold.callId)} AND owner_id IS NOT NULL;`,
    );
  const claims =
    rows.length === 0
      ? ''
      : `INSERT INTO hold (call_id, owner_id, workspace_id, key_id, amount_nano, admitted_at, simulated)
         VALUES ${rows.join(', ')} ON CONFLICT (call_id) DO NOTHING;`;
  const tagged = holds.flatMap(({ mode, callId, tags = [] }) =>
    mode === 'claim' || mode === 'claim-row' ? tags.map((tag) => `(${uuid(callId)}, ${uuid(tag.id)})`) : [],
  );
  const tags =
    tagged.length === 0
      ? ''
      : `INSERT INTO hold_tag (call_id, tag_id) VALUES ${tagged.join(', ')} ON CONFLICT DO NOTHING;`;
  const opens = holds.flatMap(({ callId, open }) => (open ? [insertOpenCall(callId, open)] : []));
  return claims + growths.join('') + tags + opens.join('');
}

/** Asks other owners for what they have not spent; `awaiting` sees the answer. */
function writeRecalls(refs: readonly LeaseRef[], ownerId: string): string {
  return refs
    .map(
      (ref) => `UPDATE lease SET recalled_at = coalesce(recalled_at, now())
        WHERE kind = ${text(ref.kind)} AND subject_id = ${uuid(ref.subjectId)} AND owner_id <> ${uuid(ownerId)};`,
    )
    .join('');
}

/** How long a call counts as running after its process was last heard from. */
export const OPEN_LIFE = `interval '45 seconds'`;

/** A call that is admitted without a journal: written in the transaction that holds its money. */
function insertOpenCall(callId: string, entry: Uint8Array): string {
  const bytes = text(`\\x${Buffer.from(entry).toString('hex')}`);
  return `INSERT INTO open_call (call_id, entry, expires_at)
    VALUES (${uuid(callId)}, ${bytes}::bytea, now() + ${OPEN_LIFE}) ON CONFLICT (call_id) DO NOTHING;`;
}
