import { cpus } from 'node:os';
import type { Pool } from 'pg';
import type { Answered } from './ask-all.ts';
import type { Totals } from './rollup.ts';

interface Size {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}

/** Disk space of the log and its sums, with separate rows for tables and indexes. */
export async function sizesOf(pool: Pool): Promise<Size[]> {
  const { rows } = await pool.query<{ name: string; rows: string; bytes: string }>(
    `WITH parts AS (
       SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = 'call'::regclass
     )
     SELECT 'call, rows' AS name, sum(greatest(c.reltuples, 0))::text AS rows, sum(pg_table_size(c.oid))::text AS bytes
     FROM parts p JOIN pg_class c ON c.oid = p.oid
     UNION ALL
     SELECT 'call, index on ' || substring(pg_get_indexdef(i.indexrelid) FROM '\\(.*'), sum(greatest(c.reltuples, 0))::text,
       sum(pg_relation_size(i.indexrelid))::text
     FROM parts p JOIN pg_index i ON i.indrelid = p.oid JOIN pg_class c ON c.oid = i.indexrelid GROUP BY 1
     UNION ALL
     SELECT relname::text, greatest(reltuples, 0)::text, pg_total_relation_size(oid)::text
     FROM pg_class WHERE oid IN ('usage_quarter_counted'::regclass, 'usage_day'::regclass,
       'usage_quarter_total'::regclass, 'usage_day_total'::regclass, 'usage_day_key'::regclass)`,
  );
  return rows.map((row) => ({ name: row.name, rows: Number(row.rows), bytes: Number(row.bytes) }));
}

/** A page of the console asks several questions at once. */
const pageLimitMs = 300;

interface Result {
  readonly answered: readonly Answered[];
  readonly totals: { readonly log: Totals; readonly usage: Totals } | null;
  readonly limitMs: number;
  readonly sizes: readonly Size[];
  readonly on: string;
}

/** A summary and the plans. `failed`: a question took too long, or the sums differ. */
export function report({ answered, totals, limitMs, sizes, on }: Result) {
  const slow = answered.filter(
    ({ name, medianMs }) => medianMs > (name.startsWith('page:') ? pageLimitMs : limitMs),
  );
  const differ = totals !== null && JSON.stringify(totals.log) !== JSON.stringify(totals.usage);
  const calls = sizes[0]?.rows ?? 0;
  const [cpu] = cpus();
  const summary = [
    `# The call log on ${on}`,
    `${new Date().toISOString().slice(0, 10)}, ${cpu?.model.trim()}, ${cpus().length} cores, Node ${process.version}; ${calls} calls.`,
    '## Questions',
    `Each is asked through the function that pages, commands and the API use; "first" is the first time in this process. On a busy machine, compare the fastest. Limit ${limitMs} ms, of a page ${pageLimitMs} ms: ${slow.length === 0 ? 'all are below' : `exceeded by ${slow.map(({ workspace, name }) => `${workspace} ${name}`).join('; ')}`}.`,
    table(
      ['Workspace', 'Question', 'First, ms', 'Fastest, ms', 'Median, ms', 'Answer'],
      answered.map((one) => [
        one.workspace,
        one.name,
        ...[one.firstMs, one.fastestMs, one.medianMs].map((ms) => ms.toFixed(1)),
        one.answer,
      ]),
    ),
    '## Size',
    table(
      ['What', 'Rows', 'MB', 'MB per million calls'],
      sizes.map(({ name, rows, bytes }) => [
        name,
        String(rows),
        (bytes / 1e6).toFixed(0),
        (bytes / calls).toFixed(1),
      ]),
    ),
    ...(totals
      ? [
          '## Totals',
          table(
            ['', 'Calls', 'Cost, nano-dollars', 'Input tokens', 'Output tokens'],
            [
              ['log', ...Object.values(totals.log)],
              ['usage', ...Object.values(totals.usage)],
            ],
          ),
          differ ? 'They differ.' : 'They are equal.',
        ]
      : []),
  ].join('\n\n');
  // Only for the busiest workspace: the plans of the others are the same, with fewer rows.
  const plans = answered
    .filter(({ workspace }) => workspace === answered[0]?.workspace)
    .map((one) => `== ${one.workspace}: ${one.name} (${one.answer})\n\n${one.plans.join('\n\n')}`)
    .join('\n\n');
  return { summary: `${summary}\n`, plans: `${plans}\n`, failed: slow.length > 0 || differ };
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
