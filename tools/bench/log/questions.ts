import type { Pool } from 'pg';
import { listCalls, showCall } from '#lib/control/operations/call/operations';
import { ask, type ControlHost } from '#lib/control/operations/run';
import { seriesOfUsage, showUsage } from '#lib/control/operations/usage/operations';
import type { Tenant } from './crowd.ts';
import { pagesOf, type Question } from './pages.ts';

const operator = { kind: 'operator', name: 'bench', address: null } as const;
const dayMs = 86_400_000;

/** Every question about one workspace. @param untilMs where the log ends. */
export async function questionsOf(
  host: ControlHost,
  pool: Pool,
  tenant: Tenant,
  untilMs: number,
): Promise<Question[]> {
  const workspace = tenant.slug;
  const list = (input: Record<string, unknown>) =>
    ask(host, listCalls, { actor: operator, workspace, input });
  const page = (name: string, input: Record<string, unknown>): Question => ({
    name,
    ask: async () => {
      const { data, next } = await list(input);
      return `${data.length} calls${next === null ? '' : ', more'}`;
    },
  });
  const usage = (name: string, input: Record<string, unknown>): Question => ({
    name,
    ask: async () => {
      const { rows } = await ask(host, showUsage, { actor: operator, workspace, input });
      return `${rows.length} rows`;
    },
  });
  const count = (name: string, input: Record<string, unknown>): Question => ({
    name,
    ask: async () => {
      const { count } = await list({ ...input, count: true, limit: 50 });
      return `${count?.calls}${count?.more ? ', more' : ''}`;
    },
  });
  const chart = (name: string, input: Record<string, unknown>): Question => ({
    name,
    ask: async () => {
      const { starts, groups } = await ask(host, seriesOfUsage, { actor: operator, workspace, input });
      return `${groups.length} groups of ${starts.length}`;
    },
  });
  const deep = await walk(list, 50_000);
  const middle = await list({ after: deep.after, limit: 1 });
  const call = middle.data[0] ?? (await list({ limit: 1 })).data[0];
  if (!call) throw new Error(`${workspace} has no calls`);
  const upstreamId = call.attempts.at(-1)?.upstreamRequestId ?? 'req_0';
  const models = await byShare(pool, tenant);
  const range = { from: new Date(untilMs - 30 * dayMs).toISOString(), to: new Date(untilMs).toISOString() };
  const week = { from: new Date(untilMs - 7 * dayMs).toISOString(), to: range.to };
  const atNoon = {
    from: new Date(untilMs - 30.5 * dayMs).toISOString(),
    to: new Date(untilMs - dayMs / 2).toISOString(),
  };
  const around = new Date(Date.parse(call.at) - dayMs / 2).toISOString();
  return [
    page('newest page', {}),
    page(`page ${deep.pages + 1}, 50 calls each`, { after: deep.after }),
    {
      name: 'a call by its request id',
      ask: async () =>
        (await ask(host, showCall, { actor: operator, workspace, input: { id: call.id } })).id.slice(0, 8),
    },
    {
      name: 'the same, of any workspace',
      ask: async () =>
        (await ask(host, showCall, { actor: operator, input: { id: call.id } })).id.slice(0, 8),
    },
    page('prefix of a request id, 8 characters', { id: call.id.slice(0, 8) }),
    page('prefix of a request id, 13 characters', { id: call.id.slice(0, 13) }),
    page('busiest key', { key: tenant.keys[0] }),
    page('quietest key', { key: tenant.keys.at(-1) }),
    page('key that never called', { key: '00000000-0000-7000-8000-000000000000' }),
    page('most used model', { model: models[0] }),
    page('least used model', { model: models.at(-1) }),
    page('model that was never used', { model: 'nobody/nothing' }),
    page('failed only, 4xx', { status: '4xx' }),
    page('failed only, 5xx', { status: '5xx' }),
    page('status 429', { status: '429' }),
    page('error code', { errorCode: 'insufficient_balance' }),
    page('provider', { provider: 'anthropic' }),
    page('provider that was never used', { provider: 'nobody' }),
    page('a cost of at least $1', { minCost: '1' }),
    page('a cost of 1 to 2 cents', { minCost: '0.01', maxCost: '0.02' }),
    page('a latency of at least an hour', { minLatency: 3_600_000 }),
    page('a latency of 1 to 2 s', { minLatency: 1000, maxLatency: 2000 }),
    page('streamed', { streamed: true }),
    page('streamed, of a family that was never used', { streamed: true, family: 'videos' }),
    page('family', { family: 'chat' }),
    page('outcome: limit', { outcome: 'limit' }),
    page('an id that nobody gave', { id: 'req_nobody' }),
    page('all filters, 30 days', {
      ...range,
      provider: 'openai',
      streamed: true,
      family: 'chat',
      errorCode: 'insufficient_balance',
      minCost: '0',
      maxCost: '1',
      minLatency: 0,
      maxLatency: 60_000,
    }),
    count('count of 30 days', range),
    count('count of 30 days, of a provider', { ...range, provider: 'openai' }),
    count('count of 30 days, streamed', { ...range, streamed: true }),
    count('count of 30 days that failed', { ...range, status: '5xx' }),
    page('least used model that failed', { model: models.at(-1), status: '5xx' }),
    page('a day', { from: around, to: new Date(Date.parse(around) + dayMs).toISOString() }),
    page('upstream request id within a day', { upstreamRequestId: upstreamId, from: around }),
    usage('30 days of usage by model', { ...range, by: 'model' }),
    usage('30 days of usage by day', { ...range, by: 'day' }),
    usage('30 days of usage by key', { ...range, by: 'key' }),
    usage('30 days of usage that begin at noon, by model', { ...atNoon, by: 'model' }),
    chart('30 days of usage as a chart of days, by model', { ...range, step: 'day', by: 'model' }),
    chart('7 days of usage as a chart of hours, by model', { ...week, step: 'hour', by: 'model' }),
    ...pagesOf(host, tenant, untilMs),
  ];
}

type List = (input: Record<string, unknown>) => Promise<{ data: { id: string }[]; next: string | null }>;

/** Goes back page by page, as a user would. @returns where the page after `rows` rows starts. */
async function walk(list: List, rows: number): Promise<{ after: string | undefined; pages: number }> {
  let after: string | undefined;
  let seen = 0;
  while (seen < rows) {
    const { data, next } = await list({ ...(after ? { after } : {}), limit: 500 });
    if (next === null) break;
    seen += data.length;
    after = next;
  }
  return { after, pages: seen / 50 };
}

/** Models of a workspace, the most used first. */
async function byShare(pool: Pool, tenant: Tenant): Promise<string[]> {
  const { rows } = await pool.query<{ model: string }>(
    'SELECT model FROM usage_day WHERE workspace_id = $1 GROUP BY 1 ORDER BY sum(calls) DESC',
    [tenant.id],
  );
  return rows.map((row) => row.model);
}
