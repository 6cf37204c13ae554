import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { choice, isUuid } from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging, sortBy } from '#lib/control/operations/field/paging';
import { badInput } from '#lib/control/operations/refusal';
import { formatUsd } from '#lib/core/money';

const flags = ['usage_anomaly', 'unpriced_tier'] as const;

const flaggedCharge = z.object({
  call: z.uuid(),
  of: z.enum(['call', 'job', 'adjustment']).describe('What was charged.'),
  at: z.iso.datetime().nullable().describe('When the call was made; null: the call is no longer kept.'),
  workspace: z.string(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  flags: z.array(z.string()),
  cost: z.string().describe('The charge, dollars as a decimal string.'),
  claimed: z.record(z.string(), z.number()).describe('The usage that the provider reported, by class.'),
});
export type FlaggedCharge = z.output<typeof flaggedCharge>;

/** The same condition as the partial indexes; made-up charges are left out. */
const flagged = `flags && ARRAY['usage_anomaly', 'unpriced_tier']
  AND workspace_id NOT IN (SELECT id FROM workspace WHERE demo)`;

/** By what flagged charges can be sorted. */
const flaggedOrders = {
  at: { sql: 'f.call', type: 'text' },
  cost: { sql: 'f.nano', type: 'bigint' },
} as const;

export const listFlagged = read({
  name: 'call.flagged',
  summary: 'Lists charges of all workspaces whose usage or tier does not fit the catalogue, newest first.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: {
    flag: optional(
      choice(
        {
          label: 'Flag',
          help: 'usage_anomaly: more usage than the model is capable of; unpriced_tier: a service tier without a price.',
          example: 'usage_anomaly',
        },
        flags,
      ),
    ),
    sort: sortBy(flaggedOrders, '-at'),
    ...paging,
  },
  output: pageOf(flaggedCharge),
  http: [{ method: 'GET', path: '/flagged-charges' }],
  line: { columns: ['at', 'call', 'of', 'workspace', 'provider', 'model', 'flags', 'cost'] },
  run: async ({ store }, { flag, sort = '-at', ...input }) => {
    const [by, descending] = [sort.replace('-', ''), sort.startsWith('-')];
    const after = input.after === undefined ? null : placeIn(input.after, sort);
    const limit = limitOf(input);
    const values: unknown[] = [limit + 1];
    const one = flag === undefined ? '' : `AND $${values.push(flag)}::text = ANY (flags)`;
    const [direction, beyond] = descending ? ['DESC', '<'] : ['ASC', '>'];
    // Ids are in the order of time; by it, no part has to read more than a page.
    const rank = by === 'cost' ? 'nano, ' : '';
    const rankAfter = after && by === 'cost' ? `$${values.push(after.nano)}::bigint, ` : '';
    const start = after
      ? `(${rankAfter}$${values.push(after.call)}::uuid, $${values.push(after.of)}::text)`
      : null;
    const part = (columns: string, table: string) =>
      `(SELECT * FROM (SELECT ${columns}, usage::text AS usage FROM ${table} WHERE ${flagged} ${one}) AS part
       ${start ? `WHERE (${rank}call, of) ${beyond} ${start}` : ''}
       ORDER BY ${rank ? `nano ${direction}, ` : ''}call ${direction}, of ${direction} LIMIT $1)`;
    const rows = await store.query<
      Omit<FlaggedCharge, 'at' | 'claimed' | 'cost'> & { at: Date | null; nano: string; usage: unknown }
    >(
      `SELECT f.call::text AS call, f.of, f.at, w.slug AS workspace, f.model, f.provider, f.flags,
         f.nano::text AS nano, f.usage
       FROM (${[
         part(
           "id AS call, 'call'::text AS of, at, workspace_id, answering_model AS model, provider, flags, cost_nano AS nano",
           'call',
         ),
         part(
           "call_id AS call, 'job'::text AS of, created_at AS at, workspace_id, model_id AS model, provider_id AS provider, flags, cost_nano AS nano",
           'job',
         ),
         part(
           "call_id AS call, 'adjustment'::text AS of, seen_at AS at, workspace_id, NULL::text AS model, NULL::text AS provider, flags, amount_nano AS nano",
           'adjustment',
         ),
       ].join(' UNION ALL ')}) AS f JOIN workspace w ON w.id = f.workspace_id
       ORDER BY ${rank ? `f.nano ${direction}, ` : ''}f.call ${direction}, f.of ${direction} LIMIT $1`,
      values,
    );
    const data = rows.slice(0, limit);
    const last = rows.length > limit ? data.at(-1) : undefined;
    return {
      data: data.map(({ at, nano, usage, ...row }) => ({
        ...row,
        at: at?.toISOString() ?? null,
        cost: formatUsd(BigInt(nano)),
        claimed: figuresOf(usage),
      })),
      next: last ? `${sort}.${last.nano}.${last.call}.${last.of}` : null,
    };
  },
});

/** Where a page ended: a call may be listed with its job and its adjustment. */
function placeIn(after: string, sort: string): { nano: string; call: string; of: string } {
  const [, asked, nano = '', call = '', of = ''] =
    /^(-?\w+)\.(-?\d{1,18})\.([0-9a-f-]{36})\.(call|job|adjustment)$/.exec(after) ?? [];
  if (asked === sort && isUuid(call)) return { nano, call, of };
  throw badInput('after', 'this is not the "next" of a page of flagged charges in this order');
}

/** The classes that are not 0. */
function figuresOf(usage: unknown): Record<string, number> {
  const parsed: unknown = typeof usage === 'string' ? JSON.parse(usage) : null;
  if (typeof parsed !== 'object' || parsed === null) return {};
  return Object.fromEntries(
    Object.entries(parsed).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] !== 0,
    ),
  );
}
