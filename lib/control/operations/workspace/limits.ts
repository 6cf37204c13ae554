import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import type { LimitUse } from '#lib/gateway/limits/pure/limit-book';

const codes = [
  'workspace_rpm_exceeded',
  'workspace_tpm_exceeded',
  'workspace_concurrency_exceeded',
  'insufficient_balance',
] as const;

/** How many of the newest failed calls are checked. */
const mostCalls = 5000;

const rate = z.object({
  used: z.int().describe('Counts against the limit now.'),
  limit: z.int().nullable().describe('The limit; null: none.'),
});

/** The limits of a workspace, what counts against them, and the latest refusal by each. */
export const showLimits = read({
  name: 'workspace.limits',
  summary:
    'Shows what counts against each limit of a workspace now, and the latest call that each limit refused.',
  reach: 'workspace',
  permission: 'logs:read',
  output: z.object({
    processes: z
      .int()
      .describe('Number of gateway processes that answered; if 0, the figures of the last minute are 0.'),
    requests: rate.describe('In the last 60 seconds.'),
    tokens: rate.describe('In the last 60 seconds.'),
    atOnce: rate.describe('Running calls.'),
    refusals: z
      .array(z.object({ code: z.enum(codes), at: z.iso.datetime(), call: z.uuid() }))
      .describe(`Among the newest ${mostCalls} failed calls; newest first.`),
  }),
  http: [{ method: 'GET', path: '/workspaces/{workspace}/limits' }],
  line: { arguments: ['workspace'] },
  run: async ({ store, scope, limitUse }) => {
    const { workspaceId: id } = scope;
    const { rpm, tpm, concurrency } = await store.prisma.workspace.findUniqueOrThrow({ where: { id } });
    const live = await limitUse(id);
    const sum = (figure: keyof LimitUse) => live.reduce((total, one) => total + one[figure], 0);
    const refused = await store.query<{ code: (typeof codes)[number]; at: Date; call: string }>(
      `SELECT DISTINCT ON (error_code) error_code AS code, at, id::text AS call FROM (
         SELECT id, at, error_code FROM call WHERE workspace_id = $1::uuid AND status >= 400
         ORDER BY id DESC LIMIT ${mostCalls}
       ) AS failed WHERE error_code = ANY ($2::text[]) ORDER BY error_code, id DESC`,
      [id, [...codes]],
    );
    const refusals = refused.sort((one, other) => other.at.getTime() - one.at.getTime());
    return {
      processes: live.length,
      requests: { used: sum('requests'), limit: rpm },
      tokens: { used: sum('tokens'), limit: tpm },
      atOnce: { used: sum('atOnce'), limit: concurrency },
      refusals: refusals.map(({ code, at, call }) => ({ code, at: at.toISOString(), call })),
    };
  },
});
