import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { allOptional } from '#lib/control/operations/field/field';
import { count, line, pattern, time } from '#lib/control/operations/field/kinds';
import { keysetOf, nextOf, type Order, paging, sortBy } from '#lib/control/operations/field/paging';
import { within } from '#lib/control/operations/scope';
import { askedRange } from '#lib/control/operations/usage/range';
import { endUserName, longestTagValue, tagNamePattern } from '#lib/core/facts/tags';
import { formatUsd } from '#lib/core/money';
import { quarterMs } from '#lib/gateway/settlement/pure/quarter';

const usualRows = 50;
const mostRows = 1_000;
/** Names of tags that are listed, the first by name. */
const mostNames = 200;

const figures = z.object({
  calls: z.int().describe('Number of calls.'),
  refused: z.int().describe('Calls that were refused before any attempt.'),
  errors: z.int().describe('Answers of 400 and above, and broken calls.'),
  inputTokens: z.int().describe('Tokens of input, cached ones included.'),
  outputTokens: z.int().describe('Tokens of output, reasoning included.'),
  cost: z.string().describe('Dollars as a decimal string.'),
});

const sums = figures.extend({ values: z.int().describe('How many values or end users they are.') });

const tagUsage = z.object({
  workspace: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  tag: z.string().nullable().describe('Name of the tag; null: the rows are end users.'),
  names: z.array(z.string()).describe(`Names of tags of its calls, at most ${mostNames}.`),
  data: z
    .array(figures.extend({ value: z.string().describe('Value of the tag, or id of the end user.') }))
    .describe('By default the most expensive first.'),
  next: z
    .string()
    .nullable()
    .describe('Send it as "after" to get the next page; null: this is the last page.'),
  rest: sums.nullable().describe('All that come after this page, together; null: there are no more.'),
  total: sums.describe('All values or end users together.'),
});

/** What values can be ranked by. */
const orders = {
  value: { sql: 's.value', type: 'text' },
  calls: { sql: 's.calls', type: 'bigint' },
  errors: { sql: 's.errors', type: 'bigint' },
  refused: { sql: 's.refused', type: 'bigint' },
  inputTokens: { sql: 's.input_tokens', type: 'bigint' },
  outputTokens: { sql: 's.output_tokens', type: 'bigint' },
  cost: { sql: 's.cost_nano', type: 'bigint' },
} as const satisfies Record<string, Order>;

/** Usage by the values of a tag, or by end user (contract: tags/usage). */
export const usageByTag = read({
  name: 'usage.tags',
  summary:
    'Shows usage by end user or by the values of a tag: by default the most expensive ones, and all others together.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: allOptional({
    from: time({
      label: 'From',
      help: 'Start of the range, extended to a whole quarter of an hour. Default: 30 days before the end.',
      example: '2026-11-01T00:00:00Z',
    }),
    to: time({
      label: 'To',
      help: 'End of the range, exclusive, extended to a whole quarter of an hour. Default: now.',
      example: '2026-12-01T00:00:00Z',
    }),
    tag: pattern(
      { label: 'Tag', help: 'Name of a tag. Default: by end user.', placeholder: 'NAME', example: 'feature' },
      tagNamePattern,
      'must have 1 to 64 letters, digits, "_", "." or "-"',
    ),
    limit: count(
      {
        label: 'Rows',
        help: `How many are shown one by one. Default: ${usualRows}.`,
        unit: 'rows',
        example: 20,
      },
      { min: 1, max: mostRows },
    ),
    search: line(
      { label: 'Search', help: 'Part of the value or of the id of the end user.' },
      longestTagValue,
    ),
    sort: sortBy(orders, '-cost'),
    after: paging.after,
  }),
  output: tagUsage,
  http: [{ method: 'GET', path: '/workspaces/{workspace}/usage/tags' }],
  line: {
    columns: ['value', 'calls', 'errors', 'refused', 'inputTokens', 'outputTokens', 'cost'],
  },
  run: async ({ store, scope, nowMs }, input) => {
    const { from, to, tag, search, limit = usualRows, sort = '-cost', after } = input;
    const range = askedRange({ from, to }, nowMs);
    const fromMs = Math.floor(range.fromMs / quarterMs) * quarterMs;
    const toMs = Math.ceil(range.toMs / quarterMs) * quarterMs;
    const values: unknown[] = [new Date(fromMs), new Date(toMs), tag ?? endUserName, limit];
    const own = within(scope, 'q.workspace_id', values);
    const searched = search ? `AND strpos(lower(t.value), lower($${values.push(search)}::text)) > 0` : '';
    const { place, orderBy, conditions } = keysetOf(orders, { sort, after }, 's.tag_id', values);
    const asked = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const shown = columns.map((name) => `s.${name}::text AS ${name}`).join(', ');
    const added = columns.map((name) => `coalesce(sum(s.${name}), 0)::text AS ${name}`).join(', ');
    // Only the page is sorted: of a hundred thousand values, it shows a few.
    const rows = await store.query<Row>(
      `WITH s AS MATERIALIZED (
         SELECT t.id AS tag_id, t.value, ${columns.map((name) => `sum(q.${name})::bigint AS ${name}`).join(', ')}
         FROM tag_quarter q JOIN tag t ON t.id = q.tag_id AND t.workspace_id = q.workspace_id AND t.name = $3 ${searched}
         WHERE ${own} AND q.quarter >= $1::timestamptz AND q.quarter < $2::timestamptz GROUP BY t.id
       ), page AS (
         SELECT s.*, ${place} AS place FROM s ${asked} ORDER BY ${orderBy} LIMIT $4::int + 1
       )
       SELECT row_number() OVER (ORDER BY ${orderBy})::int AS rank, s.tag_id::text AS id, s.value, s.place,
         1 AS values, ${shown} FROM page s
       UNION ALL SELECT 0, '', '', '', count(*)::int, ${added} FROM s
       UNION ALL SELECT -1, '', '', '', count(*)::int, ${added} FROM s ${asked} ORDER BY 1`,
      values,
    );
    const [open, total, ...page] = rows;
    if (open?.rank !== -1 || total?.rank !== 0) throw new Error('a sum without groups has one row');
    const others: unknown[] = [endUserName];
    const names = await store.query<{ name: string }>(
      `SELECT DISTINCT name FROM tag WHERE ${within(scope, 'workspace_id', others)} AND name <> $1
       ORDER BY name LIMIT ${mostNames}`,
      others,
    );
    const data = page.slice(0, limit);
    return {
      workspace: scope.slug,
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      tag: tag ?? null,
      names: names.map(({ name }) => name),
      data: data.map((row) => ({ value: row.value, ...figuresOf(row) })),
      next: nextOf(page, limit, sort),
      rest: page.length > limit ? restOf(open, data) : null,
      total: { values: total.values, ...figuresOf(total) },
    };
  },
});

const columns = ['calls', 'refused', 'errors', 'input_tokens', 'output_tokens', 'cost_nano'] as const;
interface Row extends Readonly<Record<(typeof columns)[number], string>> {
  readonly rank: number;
  /** Of the tag. */
  readonly id: string;
  readonly value: string;
  readonly place: string;
  readonly values: number;
}

/** What is left of a sum without some of its rows. */
function restOf(sum: Row, without: readonly Row[]): z.output<typeof sums> {
  const left = (name: (typeof columns)[number]) =>
    String(without.reduce((rest, row) => rest - BigInt(row[name]), BigInt(sum[name])));
  const figures = Object.fromEntries(columns.map((name) => [name, left(name)])) as Record<
    (typeof columns)[number],
    string
  >;
  return { values: sum.values - without.length, ...figuresOf(figures) };
}

function figuresOf(row: Readonly<Record<(typeof columns)[number], string>>): z.output<typeof figures> {
  return {
    calls: Number(row.calls),
    refused: Number(row.refused),
    errors: Number(row.errors),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    cost: formatUsd(BigInt(row.cost_nano)),
  };
}
