import { z } from 'zod';
import type { CallDetail } from '#lib/control/operations/call/detail';
import { getCall, pageOfCalls } from '#lib/control/operations/call/find';
import { type Context, read } from '#lib/control/operations/declare';
import { notFound } from '#lib/control/operations/refusal';
import { availableNano } from '#lib/control/operations/workspace/find';
import { formatUsd } from '#lib/core/money';

/** In the sums of usage, which outlive the calls: something other than errors. */
const answered = `calls > client_errors + limit_errors + provider_errors + timeout_errors + broken_errors
  + gateway_errors + other_errors`;

const earlier = `EXISTS (SELECT 1 FROM usage_day WHERE workspace_id = w.id AND ${answered})`;

/** What somebody who begins has done already, and what became of their first call. */
export const showFirstRun = read({
  name: 'workspace.first-run',
  summary: 'How far a new workspace is: funds, a key, and a first call that was answered.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: {},
  output: z.object({
    available: z.string().meta({ description: 'balance + credit − held, dollars as a decimal string.' }),
    funded: z.boolean(),
    keys: z.boolean().meta({ description: 'Whether there is an active key.' }),
    answered: z.boolean().meta({ description: 'Whether a call was ever answered without an error.' }),
    over: z.boolean().meta({ description: 'Whether that was more than half an hour ago.' }),
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
      .meta({ description: 'The first answered one; before there is one, the latest.' }),
  }),
  http: [],
  line: null,
  run: async (context) => {
    const { store, scope } = context;
    const [row] = await store.query<{ available: string; keys: boolean; answered: boolean; over: boolean }>(
      `SELECT (${availableNano})::text AS available,
         EXISTS (SELECT 1 FROM api_key k WHERE k.workspace_id = w.id AND k.status = 'active' AND k.session_id IS NULL) AS keys,
         EXISTS (SELECT 1 FROM usage_quarter WHERE workspace_id = w.id AND ${answered})
           OR ${earlier} AS answered,
         EXISTS (SELECT 1 FROM usage_quarter WHERE workspace_id = w.id AND ${answered}
           AND quarter < now() - interval '30 minutes') OR ${earlier} AS over
       FROM workspace w WHERE w.id = $1::uuid`,
      [scope.workspaceId],
    );
    if (row === undefined) throw notFound('this workspace is gone', 'workspace');
    // Somebody who has been calling for long is shown nothing of this.
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

/** null: it is in the sums of usage, and not in the log any more. */
async function firstAnswered(context: Context<'workspace'>): Promise<CallDetail | null> {
  const { store, scope } = context;
  const [first] = await store.query<{ id: string }>(
    `SELECT id::text AS id FROM call WHERE workspace_id = $1::uuid AND status < 400 AND error_code IS NULL
     ORDER BY id LIMIT 1`,
    [scope.workspaceId],
  );
  return first ? getCall(context, first.id) : null;
}
