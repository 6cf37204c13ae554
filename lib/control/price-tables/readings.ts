import { z } from 'zod';
import { type Reading, seenKey } from '#lib/control/price-tables/pure/propose';
import {
  entryShape,
  type PriceTable,
  type TableId,
  tableIds,
  type UnknownField,
  unknownFieldShape,
} from '#lib/control/price-tables/pure/table';

/** Runs a statement, inside a transaction or outside. */
type Query = <Row>(text: string, values: readonly unknown[]) => Promise<Row[]>;

/** What is known of a table. */
export interface TableState {
  readonly id: TableId;
  readonly daily: boolean;
  readonly readFrom: string | null;
  readonly readAt: Date | null;
  readonly failure: string | null;
  readonly failedAt: Date | null;
  /** Models of known providers. */
  readonly models: number;
  /** Models of providers that the gateway does not know. */
  readonly others: number;
  readonly unknown: readonly UnknownField[];
}

interface Row {
  readonly id: string;
  readonly daily: boolean;
  readonly entries: unknown;
  readonly unknown: unknown;
  readonly others: number;
  readonly seen: string[];
  readonly read_from: string | null;
  readonly read_at: Date | null;
  readonly failure: string | null;
  readonly failed_at: Date | null;
}

/** The tables as they were last read. One that another version stored in another form counts as not read. */
export async function readReadings(
  query: Query,
): Promise<{ readonly states: readonly TableState[]; readonly readings: readonly Reading[] }> {
  const rows = await query<Row>(
    `SELECT id, daily, entries, unknown, others, seen, read_from, read_at, failure, failed_at FROM price_table`,
    [],
  );
  const states: TableState[] = [];
  const readings: Reading[] = [];
  for (const id of tableIds) {
    const row = rows.find((one) => one.id === id);
    if (row === undefined) continue;
    const entries = z.array(entryShape).safeParse(row.entries).data;
    states.push({
      id,
      daily: row.daily,
      readFrom: entries ? row.read_from : null,
      readAt: entries ? row.read_at : null,
      failure: row.failure,
      failedAt: row.failed_at,
      models: entries?.length ?? 0,
      others: row.others,
      unknown: z.array(unknownFieldShape).safeParse(row.unknown).data ?? [],
    });
    if (entries) readings.push({ id, entries, seen: new Set(row.seen) });
  }
  return { states, readings };
}

/** The most models that a table is remembered to have listed. */
const mostSeen = 60_000;

/** Replaces a table by what was just read, in one statement, so that two readings at once leave one of them. */
export async function keepTable(query: Query, table: PriceTable, readFrom: string): Promise<void> {
  const seen = table.entries.map(({ provider, upstreamModel }) => seenKey(provider, upstreamModel));
  await query(
    `UPDATE price_table SET entries = $2::jsonb, unknown = $3::jsonb, others = $4::int, read_from = $5, read_at = now(),
       failure = NULL, failed_at = NULL,
       seen = ARRAY(SELECT DISTINCT unnest($6::text[] || seen) LIMIT ${mostSeen})
     WHERE id = $1`,
    [table.id, JSON.stringify(table.entries), JSON.stringify(table.unknown), table.others, readFrom, seen],
  );
}

/** Keeps why a table could not be read; what was read before stays. */
export async function keepFailure(query: Query, id: TableId, failure: string): Promise<void> {
  await query('UPDATE price_table SET failure = $2, failed_at = now() WHERE id = $1', [
    id,
    failure.slice(0, 500),
  ]);
}
