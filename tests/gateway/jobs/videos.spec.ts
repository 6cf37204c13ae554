import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { showUsage } from '#lib/control/operations/usage/operations';
import { findCall, findWorkspace, operate } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { type InProcess, startInProcess } from '#tests/support/in-process';

let gateway: InProcess;
beforeAll(async () => {
  // What the gateway polls by itself is due when a test says so.
  gateway = await startInProcess({ still: true });
});
afterAll(async () => {
  const { checks } = await verifyLedger(gateway.db);
  expect(checks.filter((check) => check.rows.length > 0)).toEqual([]);
  await gateway.close();
});

interface Client {
  readonly key: string;
  readonly workspace: string;
}

interface Made {
  readonly status: number;
  /** The video's id. */
  readonly id: string;
  readonly callId: string;
  readonly code: string | undefined;
}

/** Four seconds of film: $0.40. @param how parameters of the job, see tools/sandbox/scenario/job.ts. */
async function create(client: Client, how: string): Promise<Made> {
  const answer = await fetch(`${gateway.url}/v1/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox/film',
      prompt: `A film [[film?${how}]]`,
      seconds: '4',
      size: '720x1280',
    }),
  });
  const body = await answer.json();
  const callId = answer.headers.get('x-request-id') ?? '';
  return { status: answer.status, id: body.id, callId, code: body.error?.code };
}

function ask(client: Client, path: string, method = 'GET'): Promise<Response> {
  return fetch(`${gateway.url}/v1/videos${path}`, {
    method,
    headers: { authorization: `Bearer ${client.key}` },
  });
}

async function statusOf(client: Client, { id }: Made): Promise<string> {
  return (await (await ask(client, `/${id}`)).json()).status;
}

/** The create call in the log, with its job. */
async function logged({ callId }: Made) {
  const read = () => findCall(gateway.db, callId);
  await eventually(async () => (await read()) !== null, true);
  const call = await read();
  if (!call) throw new Error('the call is not in the log');
  return call;
}

async function linesOf({ callId }: Made): Promise<string[]> {
  const { rows } = await gateway.db.pool.query(
    `SELECT l.kind, sum(l.amount_nano)::text AS nano FROM ledger_line l JOIN job j USING (workspace_id)
     WHERE j.call_id = $1 AND l.kind = 'usage' GROUP BY l.kind`,
    [callId],
  );
  return rows.map((row) => `${row.kind} ${row.nano}`);
}

async function moneyOf(client: Client) {
  const found = await findWorkspace(gateway.db, client.workspace);
  return { available: found?.available, held: found?.held };
}

const settled = async (made: Made) => (await logged(made)).job?.settledAt !== null;
const once = ['usage -400000000'];

describe('a video job over the gateway (contract: jobs/jobs)', () => {
  it('holds its price until it completes, and is charged once when its client sees that', async () => {
    const client = await gateway.key();
    const made = await create(client, 'job_ms=400');
    expect(made.status).toBe(200);
    await logged(made);
    expect(await moneyOf(client)).toMatchObject({ held: '0.4', available: '99.6' });
    await eventually(() => statusOf(client, made), 'completed');
    expect(await linesOf(made)).toEqual(once);
    expect(await moneyOf(client)).toMatchObject({ held: '0', available: '99.6' });
    await statusOf(client, made);
    expect(await linesOf(made)).toEqual(once);
  });

  it('shows in the call log what it cost and its state', async () => {
    const client = await gateway.key();
    const made = await create(client, 'job=never&job_ms=0');
    expect(await logged(made)).toMatchObject({
      cost: '0',
      operation: 'videos.create',
      job: { id: made.id, kind: 'video', provider: 'sandbox', hold: '0.4', cost: null, settledAt: null },
    });
    const done = await create(client, 'job_ms=0&made=8');
    await statusOf(client, done);
    expect(await logged(done)).toMatchObject({
      cost: '0.8',
      overHold: '0.4',
      usageSource: 'reported',
      usage: { videoSeconds: 8, output: 0 },
      lines: [{ class: 'videoSecond', quantity: 8, cost: '0.8' }],
      job: { state: 'completed', cost: '0.8', lost: false },
    });
    await ask(client, `/${made.id}`, 'DELETE');
  });

  it('counts in the usage of its model what it cost, and as calls only those of its client', async () => {
    const client = await gateway.key();
    const made = await create(client, 'job_ms=0');
    await logged(made);
    expect(await statusOf(client, made)).toBe('completed');
    const isoOf = (ms: number) => new Date(ms).toISOString();
    const range = { from: isoOf(gateway.now() - 3_600_000), to: isoOf(gateway.now() + 60_000) };
    const read = async () => {
      const { rows } = await operate(gateway.db, showUsage, { workspace: client.workspace, ...range });
      return rows.find((row) => row.model === 'sandbox/film');
    };
    const inLog = 'SELECT id FROM call WHERE workspace_id = (SELECT id FROM workspace WHERE slug = $1)';
    await eventually(async () => (await gateway.db.pool.query(inLog, [client.workspace])).rowCount, 2);
    await eventually(async () => (await read())?.cost, '0.4');
    // It was created and asked for once; its charge is no call.
    expect(await read()).toMatchObject({ calls: 2, errors: 0, cost: '0.4' });
  });

  it('is charged even if no client asks for it', async () => {
    const made = await create(await gateway.key(), 'job_ms=0');
    gateway.pass(6);
    await eventually(() => linesOf(made), once);
  });

  it('is charged once when clients ask while the gateway asks', async () => {
    const client = await gateway.key();
    const made = await create(client, 'job_ms=300');
    gateway.pass(6);
    const asking = Array.from({ length: 40 }, async (_, turn) => {
      await new Promise((resolve) => setTimeout(resolve, turn * 30));
      return statusOf(client, made);
    });
    expect(await Promise.all(asking)).toContain('completed');
    await eventually(() => settled(made), true);
    expect(await linesOf(made)).toEqual(once);
    expect(await moneyOf(client)).toMatchObject({ held: '0', available: '99.6' });
  });

  it('that fails is released', async () => {
    const client = await gateway.key();
    const made = await create(client, 'job=failed&job_ms=0');
    expect(await statusOf(client, made)).toBe('failed');
    expect(await linesOf(made)).toEqual([]);
    expect(await moneyOf(client)).toMatchObject({ held: '0', available: '100' });
  });

  it('without an end after 24 hours is released, and flagged', async () => {
    const client = await gateway.key();
    const made = await create(client, 'job=never&job_ms=0');
    gateway.pass(24 * 3_600);
    await eventually(async () => (await logged(made)).job?.lost, true);
    expect(await moneyOf(client)).toMatchObject({ held: '0', available: '100' });
    expect((await logged(made)).flags).toContain('job_lost');
  });
});

describe('a video job that its client deletes', () => {
  it.each([
    ['while it is queued is released', 'job=never&job_ms=1000000000', [], '100'],
    ['while it runs is charged its hold', 'job=never&job_ms=0', once, '99.6'],
    ['after it completed is charged as it reports', 'job_ms=0', once, '99.6'],
  ])('%s', async (_, how, lines, available) => {
    const client = await gateway.key();
    const made = await create(client, how);
    const answer = await ask(client, `/${made.id}`, 'DELETE');
    expect(await answer.json()).toMatchObject({ id: made.id, deleted: true });
    await eventually(() => settled(made), true);
    expect(await linesOf(made)).toEqual(lines);
    expect(await moneyOf(client)).toMatchObject({ held: '0', available });
    expect((await ask(client, `/${made.id}`)).status).toBe(404);
    expect((await (await ask(client, '')).json()).data).toEqual([]);
  });

  it('and that the provider refuses to delete goes on', async () => {
    const client = await gateway.key();
    const made = await create(client, 'delete=fault/status-500&job_ms=600');
    expect((await ask(client, `/${made.id}`, 'DELETE')).status).toBe(500);
    expect(await settled(made)).toBe(false);
    await eventually(() => statusOf(client, made), 'completed');
    expect(await linesOf(made)).toEqual(once);
  });
});

describe('the money of jobs (contract: jobs/job-limits)', () => {
  /** It begins long after the test: what is deleted before that is released. */
  const queued = 'job=never&job_ms=1000000000';

  it('counts against the balance from their creation on', async () => {
    const client = await gateway.key({}, { credit: '0.5' });
    const running = [await create(client, queued), await create(client, queued)];
    expect(running.map((made) => made.status)).toEqual([200, 200]);
    const refused = await create(client, queued);
    expect(refused).toMatchObject({ status: 402, code: 'insufficient_balance' });
    for (const made of running) await ask(client, `/${made.id}`, 'DELETE');
    expect((await create(client, 'job=failed&job_ms=0')).status).toBe(200);
  });

  it.each([
    ['day_limit_reached', { dailyCap: '0.3' }],
    ['d7_limit_reached', { d7Cap: '0.3' }],
    ['d30_limit_reached', { d30Cap: '0.3' }],
    ['quota_exceeded', { quota: '0.3' }],
  ])('counts against the caps of its key: %s', async (code, caps) => {
    const client = await gateway.key(caps);
    const made = await create(client, queued);
    expect(made.status).toBe(200);
    expect(await create(client, queued)).toMatchObject({ status: 402, code });
    await ask(client, `/${made.id}`, 'DELETE');
    expect((await create(client, 'job=failed&job_ms=0')).status).toBe(200);
  });

  it('leaves what was paid for within reach at balance 0', async () => {
    const client = await gateway.key({}, { credit: '0.4' });
    const made = await create(client, 'job_ms=0');
    expect(await statusOf(client, made)).toBe('completed');
    expect(await moneyOf(client)).toMatchObject({ available: '0', held: '0' });
    expect(await create(client, 'job_ms=0')).toMatchObject({ status: 402, code: 'insufficient_balance' });
    expect(await statusOf(client, made)).toBe('completed');
    const content = await ask(client, `/${made.id}/content`);
    expect(content.status).toBe(200);
    expect((await content.arrayBuffer()).byteLength).toBe(100_000);
  });

  it('is never more than the hold in a strict workspace', async () => {
    const client = await gateway.key({}, { strict: true });
    const made = await create(client, 'job_ms=0&made=9');
    await statusOf(client, made);
    expect(await linesOf(made)).toEqual(once);
    expect((await logged(made)).flags).toContain('strict_capped');
  });
});

it('jobs of another workspace are unknown', async () => {
  const [owner, other] = [await gateway.key(), await gateway.key()];
  const made = await create(owner, 'job=never&job_ms=1000000000');
  expect((await ask(other, `/${made.id}`)).status).toBe(404);
  expect((await ask(other, `/${made.id}`, 'DELETE')).status).toBe(404);
  expect((await (await ask(other, '')).json()).data).toEqual([]);
  expect((await (await ask(owner, '')).json()).data).toMatchObject([{ id: made.id, prompt: null }]);
});
