import type { HostCount } from './messages.ts';
import type { Purpose, StoreCount } from './servers.ts';

/** What a fleet took in each second of its time. */
export interface Row extends StoreCount, Omit<HostCount, 'errors' | 'backlog'> {
  readonly processes: number;
  /** Calls a second of each process. */
  readonly rate: number;
  /** Where limits are counted. */
  readonly limits: string;
  /** The most that were open. */
  readonly connections: number;
  /** Statements that waited for a lock, on average. */
  readonly waiting: number;
  /** Ended calls that the database did not have, at the end. */
  readonly backlog: number;
  readonly purposes: ReadonlyMap<string, Purpose>;
}

const columns: readonly (readonly [head: string, cell: (row: Row) => string])[] = [
  ['processes', ({ processes }) => `${processes}`],
  ['limits in', ({ limits }) => limits],
  ['calls/s', ({ calls }) => count(calls)],
  ['PostgreSQL: processor ms', ({ postgresMs }) => count(postgresMs)],
  ['round trips', ({ roundTrips }) => count(roundTrips)],
  ['transactions', ({ transactions }) => count(transactions)],
  ['rows written', ({ rowsWritten }) => count(rowsWritten)],
  ['KB of WAL', ({ walBytes }) => count(walBytes / 1000)],
  ['connections', ({ connections }) => count(connections)],
  ['waiting for locks', ({ waiting }) => waiting.toFixed(1)],
  ['Redis: processor ms', ({ redisMs }) => count(redisMs)],
  ['permit requests', ({ permitRequests }) => count(permitRequests)],
  ['KB', ({ redisBytes }) => count(redisBytes / 1000)],
  ['gateways: processor ms', ({ spentUs }) => count(spentUs / 1000)],
];

/** The figures of all fleets, and what the statements of each are for, as Markdown tables; per second of its time. */
export function report(rows: readonly Row[]): string {
  const figures = table([
    columns.map(([head]) => head),
    ...rows.map((row) => columns.map(([, cell]) => cell(row))),
  ]);
  return `${figures}\n\nStatements a second, and the time that PostgreSQL took to plan and execute them, ms a second:\n\n${byPurpose(rows)}`;
}

function byPurpose(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap(({ purposes }) => [...purposes.keys()]))].sort();
  const heads = rows.map(({ processes, rate, limits }) => `${processes} × ${rate}/s, ${limits}`);
  const lines = names.map((name) => [
    name,
    ...rows.map(({ purposes }) => {
      const found = purposes.get(name);
      return found ? `${count(found.statements)}, ${count(found.ms)} ms` : '–';
    }),
  ]);
  return table([['for', ...heads], ...lines]);
}

function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows.map((cells) => `| ${cells.join(' | ')} |`);
  const rule = `|${rows[0]?.map((_, at) => (at === 0 ? '---|' : '--:|')).join('') ?? ''}`;
  return [head, rule, ...body].join('\n');
}

function count(value: number): string {
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}
