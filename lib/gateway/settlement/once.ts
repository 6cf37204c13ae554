import type { Pool, PoolClient } from 'pg';
import type { DrainedEntry, JournalPlace, SettledEntry } from '#lib/gateway/settlement/pure/entry';
import { queryWithin } from '#lib/platform/data/query-within';

interface Position {
  readonly file: number;
  /** Bytes. */
  readonly drainedTo: number;
  readonly allBefore: boolean;
  readonly ended: boolean;
}

/** What is known of one journal: how far it is in the database (contract: money/once). */
class Positions {
  readonly #known: readonly Position[];

  constructor(known: readonly Position[]) {
    this.#known = known;
  }

  /** Whether an end there was posted, or set aside. */
  covers(place: JournalPlace): boolean {
    return this.#known.some((one) => isWithin(place, one));
  }

  /** Whether a call that was opened there has ended. */
  hasEnded(place: JournalPlace): boolean {
    return this.#known.some((one) => one.ended && isWithin(place, one));
  }

  /**
   * Whether the files that were found reach as far as their owner had drained them. Copies of an earlier moment do not:
   * calls that are open in them may have ended since.
   * @param sizes bytes by file number.
   */
  areReached(sizes: ReadonlyMap<number, number>): boolean {
    const last = this.#known.find((one) => one.allBefore);
    return last === undefined || (sizes.get(last.file) ?? 0) >= last.drainedTo;
  }
}

function isWithin({ file, end }: JournalPlace, known: Position): boolean {
  return file === known.file ? end <= known.drainedTo : known.allBefore && file < known.file;
}

const read = `
  SELECT file, drained_to::text AS drained_to, all_before, ended FROM journal_position
  WHERE owner_id = $1::uuid ORDER BY file`;

/** @param lock until the transaction ends, so that a process that reads a copy of the same journal waits. */
export async function readPositions(
  sql: Pick<Pool | PoolClient, 'query'>,
  ownerId: string,
  lock = false,
): Promise<Positions> {
  const { rows } = await sql.query<{ file: number; drained_to: string; all_before: boolean; ended: boolean }>(
    lock ? `${read} FOR UPDATE` : read,
    [ownerId],
  );
  return new Positions(
    rows.map((row) => ({
      file: row.file,
      drainedTo: Number(row.drained_to),
      allBefore: row.all_before,
      ended: row.ended,
    })),
  );
}

/** One row remains of a process that drains its own journal. */
const advanceOwn = `
  WITH passed AS (DELETE FROM journal_position WHERE owner_id = $1::uuid AND file < $2::int)
  INSERT INTO journal_position AS p (owner_id, file, drained_to, all_before) VALUES ($1::uuid, $2::int, $3::bigint, true)
  ON CONFLICT (owner_id, file) DO UPDATE SET drained_to = greatest(p.drained_to, excluded.drained_to), all_before = true`;

const advanceFound = `
  INSERT INTO journal_position AS p (owner_id, file, drained_to, all_before)
  SELECT $1::uuid, file, drained_to, false FROM unnest($2::int[], $3::bigint[]) AS r (file, drained_to) ORDER BY file
  ON CONFLICT (owner_id, file) DO UPDATE SET drained_to = greatest(p.drained_to, excluded.drained_to)`;

/**
 * Notes how far these entries bring their journal, in the transaction that posts them. They come in the order of the
 * files, each behind everything that was posted or set aside before.
 * @param own by the process that writes the journal; else files may be missing between those that were found.
 */
export async function advance(
  client: PoolClient,
  ownerId: string,
  entries: readonly DrainedEntry[],
  own: boolean,
): Promise<void> {
  const ends = new Map<number, number>();
  for (const { place } of entries) if (place) ends.set(place.file, place.end);
  if (ends.size === 0) return;
  const files = [...ends.keys()];
  const last = Math.max(...files);
  if (own) await client.query(advanceOwn, [ownerId, last, ends.get(last)]);
  else await client.query(advanceFound, [ownerId, files, files.map((file) => ends.get(file))]);
}

const endFound = `
  INSERT INTO journal_position AS p (owner_id, file, drained_to, all_before, ended)
  SELECT $1::uuid, file, size, false, true FROM unnest($2::int[], $3::bigint[]) AS r (file, size) ORDER BY file
  ON CONFLICT (owner_id, file) DO UPDATE SET drained_to = greatest(p.drained_to, excluded.drained_to),
    ended = p.ended OR excluded.drained_to >= p.drained_to`;

/** Everything in these files has been dealt with, including calls that were open. @param sizes bytes by file number. */
export async function endFiles(
  pool: Pool,
  ownerId: string,
  sizes: ReadonlyMap<number, number>,
): Promise<void> {
  if (sizes.size > 0) await pool.query(endFound, [ownerId, [...sizes.keys()], [...sizes.values()]]);
}

/** A process that stops waits no longer. Without the mark, old calls that are open in a copy of its files are reported. */
const stopMs = 2_000;

/** The process that wrote the journal stops, and no call is open in it. @throws Error of the database. */
export async function endOwn(pool: Pool, ownerId: string): Promise<void> {
  await queryWithin(pool, stopMs)(
    'UPDATE journal_position SET ended = true WHERE owner_id = $1::uuid AND all_before',
    [ownerId],
  );
}

const known = 'SELECT call_id::text AS id FROM settled_apart WHERE call_id = ANY ($1::uuid[])';

/**
 * Those of a journal's entries that it does not show as posted: whether their calls are still in the log does not
 * matter. Locks its positions, so that copies of a journal are read one after the other.
 */
export async function unpostedOf(
  client: PoolClient,
  ownerId: string,
  entries: readonly DrainedEntry[],
): Promise<readonly DrainedEntry[]> {
  const positions = await readPositions(client, ownerId, true);
  const left = entries.filter(({ place }) => !place || !positions.covers(place));
  const ids = left.filter((entry) => entry.kind !== 'keep').map((entry) => entry.callId);
  if (ids.length === 0) return left;
  // A call may have ended as interrupted while the file with its end was missing.
  const { rows } = await client.query<{ id: string }>(known, [ids]);
  if (rows.length === 0) return left;
  const settled = new Set(rows.map(({ id }) => id));
  return left.filter((entry) => entry.kind === 'keep' || !settled.has(entry.callId.toLowerCase()));
}

const insertClaimed = `
  INSERT INTO settled_apart (call_id) SELECT id FROM unnest($1::uuid[]) AS id ORDER BY id
  ON CONFLICT (call_id) DO NOTHING RETURNING call_id::text AS id`;

/**
 * Keeps for ever which calls are posted from no place in a journal, by id.
 * @param placed whether the places of the others are passed.
 * @returns the entries without those that were posted so before.
 */
export async function claimById(
  client: PoolClient,
  byId: ReadonlyMap<string, SettledEntry>,
  placed: boolean,
): Promise<ReadonlyMap<string, SettledEntry>> {
  const isUnplaced = ({ place }: SettledEntry) => !place || !placed;
  const unplaced = [...byId].flatMap(([id, entry]) => (isUnplaced(entry) ? [id] : []));
  if (unplaced.length === 0) return byId;
  const { rows } = await client.query<{ id: string }>(insertClaimed, [unplaced]);
  if (rows.length === unplaced.length) return byId;
  const fresh = new Set(rows.map(({ id }) => id));
  return new Map([...byId].filter(([id, entry]) => !isUnplaced(entry) || fresh.has(id)));
}
