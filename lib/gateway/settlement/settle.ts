import type { Pool, PoolClient } from 'pg';
import { postUsage } from '#lib/gateway/ledger/post-usage';
import { keepResources } from '#lib/gateway/resources/database/stored';
import { takeTokens } from '#lib/gateway/settlement/by-database/open-calls';
import { advance, claimById, unpostedOf } from '#lib/gateway/settlement/once';
import { apply, type Effects } from '#lib/gateway/settlement/pure/apply';
import type { DrainedEntry, KeepEntry, SettledEntry } from '#lib/gateway/settlement/pure/entry';
import type { TagEffects } from '#lib/gateway/settlement/pure/tag-sums';
import { arrayOf } from '#lib/gateway/settlement/record/payload';
import * as sql from '#lib/gateway/settlement/statements';
import { addQuarters, quarterRow } from '#lib/gateway/settlement/usage/statement';
import { type Change, publish } from '#lib/platform/data/change';
import { isRefusedData } from '#lib/platform/data/database-errors';
import { transact } from '#lib/platform/data/transaction/transaction';

/** Longer than any batch takes; beyond it the connection counts as lost. */
const limits = { lockMs: 5_000, statementMs: 20_000, wholeMs: 20_000 };
/** From this number of calls on, a savepoint costs less than it saves. */
const manyCalls = 50;

/** How entries are posted. */
export interface Posting {
  /** By the process that wrote their journal; else by one that found it, or a copy. */
  readonly own: boolean;
  /** Whether they may have been posted before: they were found, or an earlier try failed without saying how far it came. */
  readonly again: boolean;
  /** Whether their places are passed: not when one before could be neither posted nor set aside. */
  passes(): boolean;
  /**
   * Without a journal: a call with a hold is ended by the process that deletes its `open_call`. `expired`: only if its own process
   * has not been heard from for so long that it counts as dead.
   */
  readonly tokens?: 'own' | 'expired';
}

const byOwner: Posting = { own: true, again: false, passes: () => true };

/**
 * Brings ended calls to the database in one transaction: rows, ledger, balances, sums; what providers keep; and how
 * far their journal is posted. What was posted before changes nothing: it may be repeated with the same entries at any
 * time, forever if their places are known (contract: money/once).
 *
 * Locks are taken in one order everywhere: journal positions, calls, resources, workspaces with their lines, keys,
 * leases, holds, sums, change feed; within each by id.
 * @param ownerId the process whose leases paid for the calls, and whose journal they are in.
 * @throws Error of the database; nothing was changed then, or (a connection lost at COMMIT) all of it.
 */
export async function settle(
  pool: Pool,
  ownerId: string,
  entries: readonly DrainedEntry[],
  how: Posting = byOwner,
): Promise<void> {
  await transact(pool, limits, async (client) => {
    await settleIn(client, ownerId, entries, how);
  });
}

/** @returns the number of the type of a call's row in this database. */
async function readRowType(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ oid: number }>(sql.rowType);
  const oid = rows[0]?.oid;
  if (oid === undefined) throw new Error('the database has no type call_record: migrate it');
  return oid;
}

async function settleIn(
  client: PoolClient,
  ownerId: string,
  given: readonly DrainedEntry[],
  { own, again, passes, tokens }: Posting,
): Promise<void> {
  const rowType = await readRowType(client);
  const entries = tokens
    ? await takeTokens(client, given, tokens)
    : again
      ? await unpostedOf(client, ownerId, given)
      : given;
  const placed = passes();
  if (placed && !tokens) await advance(client, ownerId, given, own);
  const byId = new Map<string, SettledEntry>();
  const kept: KeepEntry[] = [];
  for (const entry of entries) {
    if (entry.kind === 'keep') {
      kept.push(entry);
      continue;
    }
    const id = entry.call.id.toLowerCase();
    if (!byId.has(id)) byId.set(id, entry);
  }
  const unclaimed = tokens ? byId : await claimById(client, byId, placed);
  const fresh = unclaimed.size > 0 ? await insertNew(client, unclaimed, rowType) : [];
  if (kept.length > 0) await keepResources(client, kept);
  const effects = apply(fresh);
  await postUsage(client, effects.workspaces);
  const exhausted = await chargeKeys(client, effects);
  await shrinkLeases(client, ownerId, effects);
  const funded = entries.filter((entry) => entry.kind === 'close' && entry.funding === 'row');
  if (funded.length > 0) await client.query(sql.deleteHolds, [funded.map((entry) => entry.callId)]);
  await addSums(client, effects);
  await addTagSums(client, effects.tags);
  await publish(client, await auditExhausted(client, exhausted));
}

/** @returns what must be published in the same transaction, as its last statement. */
export async function auditExhausted(client: PoolClient, exhausted: readonly LockedKey[]): Promise<Change[]> {
  if (exhausted.length === 0) return [];
  await client.query(sql.insertAudits, [
    exhausted.map((key) => key.workspace_id),
    exhausted.map((key) => key.id),
  ]);
  return exhausted.map((key) => ({ kind: 'key', subject: key.id }));
}

/** @returns the entries whose rows are new; none of the others may have effects. */
async function insertNew(
  client: PoolClient,
  byId: ReadonlyMap<string, SettledEntry>,
  rowType: number,
): Promise<readonly SettledEntry[]> {
  const entries = [...byId.values()];
  const rows = arrayOf(rowType, entries);
  if (entries.length >= manyCalls && (await insertedAll(client, rows))) return entries;
  const found = await client.query<{ fresh: number; ids: string[] | null }>(sql.insertCalls, [
    rows,
    entries.length,
  ]);
  const [inserted] = found.rows;
  if (inserted?.fresh === entries.length) return entries;
  return (inserted?.ids ?? []).flatMap((id) => byId.get(id) ?? []);
}

/**
 * Mostly all rows are new: then the database need not look each up before it inserts it, nor report which it inserted.
 * @returns false where one is there already, and none was inserted.
 */
async function insertedAll(client: PoolClient, rows: Buffer): Promise<boolean> {
  await client.query('SAVEPOINT calls');
  try {
    await client.query(sql.insertNewCalls, [rows]);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '23505')) throw error;
    await client.query('ROLLBACK TO SAVEPOINT calls');
    return false;
  }
}

export interface LockedKey {
  readonly id: string;
  readonly workspace_id: string;
  readonly quota_nano: string | null;
  readonly spent_nano: string;
  readonly quota_exhausted: boolean;
}

/** @returns keys whose settled spend reaches their quota now (contract: money/quota). */
export async function chargeKeys(client: PoolClient, { keys }: Pick<Effects, 'keys'>): Promise<LockedKey[]> {
  if (keys.length === 0) return [];
  const ids = keys.map((key) => key.id);
  const spent = new Map(keys.map((key) => [key.id, key.spentNano]));
  const locked = await client.query<LockedKey>(sql.lockKeys, [ids]);
  const exhausted = locked.rows.filter((key) => {
    const added = spent.get(key.id) ?? 0n;
    if (key.quota_exhausted || key.quota_nano === null || added <= 0n) return false;
    return BigInt(key.spent_nano) + added >= BigInt(key.quota_nano);
  });
  await client.query(sql.chargeKeys, [
    ids,
    keys.map((key) => `${key.spentNano}`),
    keys.map((key) => new Date(key.lastUsedMs).toISOString()),
    exhausted.map((key) => key.id),
  ]);
  return exhausted;
}

async function shrinkLeases(client: PoolClient, ownerId: string, { leases }: Effects): Promise<void> {
  if (leases.length === 0) return;
  const kinds = leases.map((lease) => lease.kind);
  const subjects = leases.map((lease) => lease.subjectId);
  if (leases.length > 1) await client.query(sql.lockLeases, [ownerId, kinds, subjects]);
  await client.query(sql.shrinkLeases, [
    ownerId,
    kinds,
    subjects,
    leases.map((lease) => `${lease.spentNano}`),
  ]);
}

/** Adds to the sums by minute and by quarter of an hour of admission. */
export async function addSums(
  client: PoolClient,
  { minutes, quarters }: Pick<Effects, 'minutes' | 'quarters'>,
): Promise<void> {
  if (minutes.length > 0) {
    await client.query(sql.addMinutes, [
      minutes.map((row) => row.keyId),
      minutes.map((row) => new Date(row.minuteMs).toISOString()),
      minutes.map((row) => `${row.spentNano}`),
    ]);
  }
  if (quarters.length > 0) await client.query(addQuarters, [JSON.stringify(quarters.map(quarterRow))]);
}

async function addTagSums(client: PoolClient, { tags, calls, quarters }: TagEffects): Promise<void> {
  if (calls.length === 0) return;
  const named = [...tags];
  await client.query(sql.addTags, [
    named.map(([id]) => id),
    named.map(([, tag]) => tag.workspaceId),
    named.map(([, tag]) => tag.name),
    named.map(([, tag]) => tag.value),
  ]);
  await client.query(sql.addCallTags, [calls.map(({ callId }) => callId), calls.map(({ tagId }) => tagId)]);
  const sums = [...quarters.values()];
  if (sums.length === 0) return;
  await client.query(sql.addTagQuarters, [
    sums.map((sum) => sum.tagId),
    sums.map((sum) => new Date(sum.quarterMs).toISOString()),
    sums.map((sum) => sum.workspaceId),
    sums.map((sum) => sum.calls),
    sums.map((sum) => sum.refused),
    sums.map((sum) => sum.errors),
    sums.map((sum) => `${sum.inputTokens}`),
    sums.map((sum) => `${sum.outputTokens}`),
    sums.map((sum) => `${sum.costNano}`),
  ]);
}

/**
 * As `settle`, but entries that the database refuses for their content do not hold up the others: they are
 * found by halves and given to `onRefused`, before what follows them is posted.
 * @returns the entries that are in the database.
 * @throws Error when the database cannot be asked: then nothing is known about the entries.
 */
export async function settleIsolating(
  pool: Pool,
  ownerId: string,
  entries: readonly DrainedEntry[],
  posting: {
    readonly how: Posting;
    readonly onRefused: (entry: DrainedEntry, error: Error) => void;
  },
): Promise<DrainedEntry[]> {
  const [only] = entries;
  if (!only) return [];
  try {
    await settle(pool, ownerId, entries, posting.how);
    return [...entries];
  } catch (error) {
    if (!isUnpostable(error)) throw error;
    if (entries.length === 1) {
      posting.onRefused(only, error);
      return [];
    }
    const half = Math.ceil(entries.length / 2);
    const first = await settleIsolating(pool, ownerId, entries.slice(0, half), posting);
    const second = await settleIsolating(pool, ownerId, entries.slice(half), posting);
    return [...first, ...second];
  }
}

/** Refused for its content, or a value that cannot be written at all. */
function isUnpostable(error: unknown): error is Error {
  return error instanceof RangeError || error instanceof TypeError || isRefusedData(error);
}
