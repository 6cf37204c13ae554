import { type CsvCell, csvLine } from '#lib/console/csv/line';
import type { LedgerLine } from '#lib/control/operations/ledger/list';
import { isoInZone } from '#lib/core/charts/zone';

/** Columns of a file of the ledger; their names and order must not change. */
const columns: readonly (readonly [name: string, cell: (line: LedgerLine) => CsvCell])[] = [
  ['line_id', (line) => line.id],
  ['kind', (line) => line.kind],
  ['amount_usd', (line) => line.amount],
  ['balance_usd', (line) => line.balance],
  ['calls', (line) => line.calls],
  ['reason', (line) => line.reason],
  ['ref', (line) => line.ref],
  ['call_id', (line) => line.call],
  ['top_up_id', (line) => line.topUp],
  ['receipt_url', (line) => line.receiptUrl],
  ['simulated_usd', (line) => line.simulated],
];

export const ledgerCsvHead = csvLine(['time', 'time_utc', ...columns.map(([name]) => name)]);

/** A ledger line as a CSV line: its time in the workspace's zone, and in UTC. @param zone IANA. */
export function ledgerCsvLine(line: LedgerLine, zone: string): string {
  const times = [isoInZone(Date.parse(line.at), zone), line.at];
  return csvLine([...times, ...columns.map(([, cell]) => cell(line))]);
}
