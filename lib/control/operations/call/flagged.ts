import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { choice, isUuid } from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging } from '#lib/control/operations/field/paging';
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
    ...paging,
  },
  output: pageOf(flaggedCharge),
  http: [{ method: 'GET', path: '/flagged-charges' }],
  line: { columns: ['at', 'call', 'of', 'workspace', 'provider', 'model', 'flags', 'cost'] },
  run: async ({ store }, { flag, ...input }) => {
    const after = input.after === undefined ? null : placeIn(input.after);
    const limit = limitOf(input);
    const values: unknown[] = [limit + 1];
    const one = flag === undefined ? '' : `AND $${values.push(flag)}::text = ANY (flags)`;
    const place = after === null ? '' : `$${values.push(after.call)}::uuid`;
    const newest = (id: string, of: FlaggedCharge['of']) =>
      `${one} ${after === null ? '' : `AND ${id} ${of > after.of ? '<=' : '<'} ${place}`} ORDER BY ${id} DESC LIMIT $1`;
    const rows = await store.query<
      Omit<FlaggedCharge, 'at' | 'claimed'> & { at: Date | null; usage: unknown }
    >(
      `SELECT f.call::text AS call, f.of, f.at, w.slug AS workspace, f.model, f.provider, f.flags, f.cost, f.usage
       FROM (
         (SELECT id AS call, 'call' AS of, at, workspace_id, answering_model AS model, provider, flags,
           cost_nano::text AS cost, usage::text AS usage FROM call WHERE ${flagged} ${newest('id', 'call')})
         UNION ALL (SELECT call_id, 'job', created_at, workspace_id, model_id, provider_id, flags, cost_nano::text,
           usage::text FROM job WHERE ${flagged} ${newest('call_id', 'job')})
         UNION ALL (SELECT call_id, 'adjustment', seen_at, workspace_id, NULL, NULL, flags, amount_nano::text,
           usage::text FROM adjustment WHERE ${flagged} ${newest('call_id', 'adjustment')})
       ) AS f JOIN workspace w ON w.id = f.workspace_id
       ORDER BY f.call DESC, f.of LIMIT $1`,
      values,
    );
    const data = rows.slice(0, limit);
    const last = rows.length > limit ? data.at(-1) : undefined;
    return {
      data: data.map(({ at, cost, usage, ...row }) => ({
        ...row,
        at: at?.toISOString() ?? null,
        cost: formatUsd(BigInt(cost)),
        claimed: figuresOf(usage),
      })),
      next: last ? `${last.call}.${last.of}` : null,
    };
  },
});

/** Where a page ended: a call may be listed with its job and its adjustment. */
function placeIn(after: string): { call: string; of: string } {
  const [, call = '', of = ''] = /^([0-9a-f-]{36})\.(call|job|adjustment)$/.exec(after) ?? [];
  if (isUuid(call)) return { call, of };
  throw badInput('after', 'this is not the "next" of a page of flagged charges');
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
