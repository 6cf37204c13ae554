import { z } from 'zod';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { getCall, pageOfCalls } from '#lib/control/operations/call/find';
import { type Context, read } from '#lib/control/operations/declare';
import { notFound } from '#lib/control/operations/refusal';
import { availableNano } from '#lib/control/operations/workspace/find';
import { formatUsd } from '#lib/core/money';

/** In the sums of usage, which are kept longer than the calls: more calls than errors. */
const answered = `calls > client_errors + limit_errors + provider_errors + timeout_errors + broken_errors
  + gateway_errors + other_errors`;

// A range of one id, which the planner takes from the index: with `=`, it expects the rows of one busy workspace everywhere.
const earlier = `EXISTS (SELECT 1 FROM usage_day WHERE workspace_id BETWEEN w.id AND w.id AND ${answered})`;

/** How far a new user is, and the result of their first call. */
export const showFirstRun = read({
  name: 'workspace.first-run',
  summary: 'Shows the progress of a new workspace: funds, a key, and a first answered call.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: {},
  output: z.object({
    available: z.string().describe('Balance + credit − held, dollars as a decimal string.'),
    funded: z.boolean(),
    keys: z.boolean().describe('Whether there is an active key.'),
    answered: z.boolean().describe('Whether any call was answered without an error.'),
    over: z.boolean().describe('Whether that was more than half an hour ago.'),
    call: z
      .object({
        id: z.uuid(),
        at: z.iso.datetime(),
        status: z.int(),
        errorCode: z.string().nullable(),
        model: z.string().nullable(),
        cost: z.string(),
      })
      .nullable()
      .describe('The first answered call; until there is one, the latest call.'),
  }),
  http: [],
  line: null,
  run: async (context) => {
    const { store, scope } = context;
    const [row] = await store.query<{ available: string; keys: boolean; answered: boolean; over: boolean }>(
      `SELECT (${availableNano})::text AS available,
         EXISTS (SELECT 1 FROM api_key k WHERE k.workspace_id = w.id AND k.status = 'active' AND k.session_id IS NULL) AS keys,
         EXISTS (SELECT 1 FROM usage_quarter WHERE workspace_id BETWEEN w.id AND w.id AND ${answered})
           OR ${earlier} AS answered,
         EXISTS (SELECT 1 FROM usage_quarter WHERE workspace_id BETWEEN w.id AND w.id AND ${answered}
           AND quarter < now() - interval '30 minutes') OR ${earlier} AS over
       FROM workspace w WHERE w.id = $1::uuid`,
      [scope.workspaceId],
    );
    if (row === undefined) throw notFound('this workspace is gone', 'workspace');
    // Not shown any more to users who have made calls for a while.
    const call = row.over ? null : row.answered ? await firstAnswered(context) : await latestOf(context);
    const available = BigInt(row.available);
    return {
      available: formatUsd(available),
      funded: available > 0n,
      keys: row.keys,
      answered: row.answered,
      over: row.over,
      call: call
        ? {
            id: call.id,
            at: call.at,
            status: call.status,
            errorCode: call.errorCode,
            model: call.answeringModel ?? call.requestedModel,
            cost: call.cost,
          }
        : null,
    };
  },
});

async function latestOf(context: Context<'workspace'>): Promise<CallDetail | null> {
  const page = await pageOfCalls(context, { input: {}, after: undefined }, 1);
  return page.data[0] ?? null;
}

/** null: it is only in the sums of usage, no longer in the log. */
async function firstAnswered(context: Context<'workspace'>): Promise<CallDetail | null> {
  const { store, scope } = context;
  const [first] = await store.query<{ id: string }>(
    `SELECT id::text AS id FROM call WHERE workspace_id = $1::uuid AND status < 400 AND error_code IS NULL
     ORDER BY id LIMIT 1`,
    [scope.workspaceId],
  );
  return first ? getCall(context, first.id) : null;
}
