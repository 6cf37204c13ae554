import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { allOptional } from '#lib/control/operations/field/field';
import { count, pattern, time } from '#lib/control/operations/field/kinds';
import { within } from '#lib/control/operations/scope';
import { askedRange } from '#lib/control/operations/usage/range';
import { endUserName, tagNamePattern } from '#lib/core/facts/tags';
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

const tagUsage = z.object({
  workspace: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  tag: z.string().nullable().describe('Name of the tag; null: the rows are end users.'),
  names: z.array(z.string()).describe(`Names of tags of its calls, at most ${mostNames}.`),
  rows: z
    .array(figures.extend({ value: z.string().describe('Value of the tag, or id of the end user.') }))
    .describe('Most expensive first.'),
  rest: figures
    .extend({ values: z.int().describe('How many values or end users they are.') })
    .nullable()
    .describe('All others together; null: there are no others.'),
});

/** Usage by the values of a tag, or by end user (contract: tags/usage). */
export const usageByTag = read({
  name: 'usage.tags',
  summary:
    'Shows usage by end user or by the values of a tag: the most expensive ones, and all others together.',
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
  }),
  output: tagUsage,
  http: [{ method: 'GET', path: '/workspaces/{workspace}/usage/tags' }],
  line: {
    columns: ['value', 'calls', 'errors', 'refused', 'inputTokens', 'outputTokens', 'cost'],
  },
  run: async ({ store, scope, nowMs }, { from, to, tag, limit = usualRows }) => {
    const asked = askedRange({ from, to }, nowMs);
    const fromMs = Math.floor(asked.fromMs / quarterMs) * quarterMs;
    const toMs = Math.ceil(asked.toMs / quarterMs) * quarterMs;
    const values: unknown[] = [new Date(fromMs), new Date(toMs), tag ?? endUserName, limit];
    const own = within(scope, 'q.workspace_id', values);
    const sums = ['calls', 'refused', 'errors', 'input_tokens', 'output_tokens', 'cost_nano'];
    const rows = await store.query<Row>(
      `WITH sums AS (
         SELECT q.tag_id, ${sums.map((name) => `sum(q.${name}) AS ${name}`).join(', ')}
         FROM tag_quarter q JOIN tag t ON t.id = q.tag_id AND t.name = $3
         WHERE ${own} AND q.quarter >= $1::timestamptz AND q.quarter < $2::timestamptz GROUP BY q.tag_id
       ), ranked AS (
         SELECT *, least(row_number() OVER (ORDER BY cost_nano DESC, calls DESC, tag_id), $4::int + 1) AS rank FROM sums
       )
       SELECT r.rank::int AS rank, min(t.value) AS value, count(*)::int AS values,
         ${sums.map((name) => `sum(r.${name})::text AS ${name}`).join(', ')}
       FROM ranked r JOIN tag t ON t.id = r.tag_id GROUP BY r.rank ORDER BY r.rank`,
      values,
    );
    const others: unknown[] = [endUserName];
    const names = await store.query<{ name: string }>(
      `SELECT DISTINCT name FROM tag WHERE ${within(scope, 'workspace_id', others)} AND name <> $1
       ORDER BY name LIMIT ${mostNames}`,
      others,
    );
    const rest = rows.find(({ rank }) => rank > limit);
    return {
      workspace: scope.slug,
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      tag: tag ?? null,
      names: names.map(({ name }) => name),
      rows: rows.filter(({ rank }) => rank <= limit).map((row) => ({ value: row.value, ...figuresOf(row) })),
      rest: rest ? { values: rest.values, ...figuresOf(rest) } : null,
    };
  },
});

type Sum = 'calls' | 'refused' | 'errors' | 'input_tokens' | 'output_tokens' | 'cost_nano';
type Row = { readonly rank: number; readonly value: string; readonly values: number } & Readonly<
  Record<Sum, string>
>;

function figuresOf(row: Row): z.output<typeof figures> {
  return {
    calls: Number(row.calls),
    refused: Number(row.refused),
    errors: Number(row.errors),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    cost: formatUsd(BigInt(row.cost_nano)),
  };
}
