import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#lib/platform/clock';
import { type Db, openDb } from '#lib/platform/data/db';
import { createIds } from '#lib/platform/ids';
import { type CommandLine, commandLine } from '#tests/support/command';
import { createWorkspace, listCalls } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { createCustomer } from '#tests/support/settlement';

let database: TestDatabase;
let db: Db;
let gateway: CommandLine;
let customer: { workspaceId: string; keyId: string };
let slug: string;
let other: string;
const ids = createIds(systemClock);

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  gateway = commandLine(database.url);
  customer = await createCustomer(db.pool);
  slug = `w-${customer.workspaceId}`;
  other = (await createWorkspace(db, { name: 'Other' })).slug;
});
afterAll(async () => {
  gateway.close();
  await db.close();
  await database.drop();
});

/** A call of the workspace, now unless its age is given. */
async function log(changed: Record<string, unknown> = {}, id = ids.newId() ?? ''): Promise<string> {
  await db.prisma.call.create({
    data: {
      id,
      at: new Date(),
      workspaceId: customer.workspaceId,
      keyId: customer.keyId,
      family: 'chat',
      operation: 'chat.create',
      requestedModel: 'a/b',
      answeringModel: 'a/b',
      provider: 'one',
      status: 200,
      streamed: false,
      latencyMs: 12,
      overheadMs: 0.5,
      endReason: 'completed',
      usageSource: 'reported',
      flags: [],
      usage: {},
      lines: [],
      costNano: 1_000n,
      holdNano: 0n,
      overHoldNano: 0n,
      attempts: [['up-1', 1, 8, 200, null, 'one', 'b-1']],
      ...changed,
    },
  });
  return id;
}

async function found(given: Record<string, unknown>, workspace = slug): Promise<string[]> {
  return (await listCalls(db, workspace, given)).data.map(({ id }) => id);
}

describe('the log', () => {
  it('is narrowed by family, by what was streamed, and from and to a cost and a latency', async () => {
    const hit = await log({
      family: 'messages',
      streamed: true,
      costNano: 2_000_000_000n,
      latencyMs: 5_000,
    });
    await log();
    const wanted: Record<string, unknown>[] = [
      { family: 'messages' },
      { streamed: true },
      { minCost: '2' },
      { minCost: '0.000001001', maxCost: '2' },
      { minLatency: 5_000 },
      { minLatency: 13, maxLatency: 5_000, streamed: true },
    ];
    for (const filters of wanted) expect(await found(filters), JSON.stringify(filters)).toEqual([hit]);
    for (const filters of [{ minCost: '2.000000001' }, { minLatency: 5_001 }, { family: 'images' }])
      expect(await found(filters), JSON.stringify(filters)).toEqual([]);
    expect(await found({ maxCost: '0.000001', streamed: false })).toHaveLength(1);
    const printed = await gateway.run(
      'call',
      'list',
      '--workspace',
      slug,
      '--min-cost',
      '2',
      '--streamed',
      'on',
    );
    expect(printed.out).toContain(hit);
  });

  it('takes the cost of a call with a later correction as it is shown', async () => {
    const hit = await log({ usageSource: 'estimated', costNano: 1_000n });
    const { workspaceId } = customer;
    const amountNano = 5_000_000_000n;
    await db.prisma.adjustment.create({
      data: {
        callId: hit,
        workspaceId,
        report: {},
        seenAt: new Date(),
        settledAt: new Date(),
        amountNano,
        flags: [],
      },
    });
    expect(await found({ minCost: '5' })).toEqual([hit]);
  });

  it('finds the call of a batch by the custom_id of a line, in its own workspace only (contract: batches/line)', async () => {
    const hit = await log();
    await log();
    const { workspaceId, keyId } = customer;
    const job = { callId: hit, workspaceId, keyId, family: 'chat', kind: 'batch', upstreamId: 'batch_1' };
    const offer = {
      providerId: 'one',
      modelId: 'a/b',
      upstreamModel: 'b',
      offerId: hit,
      priceVersionId: hit,
    };
    const course = { holdNano: 0n, facts: {}, state: 'completed', createdAt: new Date(), flags: [] };
    await db.prisma.job.create({ data: { ...job, ...offer, ...course } });
    const line = { callId: hit, customId: 'Line 17', workspaceId, status: 200, costNano: 5n };
    await db.prisma.batchLine.create({ data: { ...line, usage: {}, lines: [], flags: [] } });
    expect(await found({ customId: 'Line 17' })).toEqual([hit]);
    expect(await found({ customId: 'line 17' })).toEqual([]);
    expect(await found({ customId: 'Line 17' }, other)).toEqual([]);
    const printed = await gateway.run('call', 'list', '--workspace', slug, '--custom-id', 'Line 17');
    expect(printed.out).toContain(hit);
  });

  it('goes back no longer than its last minutes, hours or days', async () => {
    const nowMs = Date.now();
    const at = (ms: number) => createIds({ ...systemClock, now: () => ms }).newId() ?? '';
    const old = await log({ provider: 'aged' }, at(nowMs - 2 * 3_600_000));
    expect(await found({ provider: 'aged', last: '24h' })).toEqual([old]);
    expect(await found({ provider: 'aged', last: '1h' })).toEqual([]);
    const both = listCalls(db, slug, { last: '1h', from: '2026-01-01' });
    await expect(both).rejects.toMatchObject({ code: 'invalid_body', field: 'last' });
  });

  it('tells which calls ended since a moment, long ones that began before it too (contract: call-log/tail)', async () => {
    const began = createIds({ ...systemClock, now: () => Date.now() - 50 * 60_000 }).newId() ?? '';
    const long = await log({ provider: 'tail' }, began);
    const { settledAt } = await db.prisma.call.findFirstOrThrow({ where: { id: long } });
    const since = (ms: number) => new Date(settledAt.getTime() + ms).toISOString();
    expect(await found({ provider: 'tail', settledAfter: since(-1) })).toEqual([long]);
    expect(await found({ provider: 'tail', settledAfter: since(1) })).toEqual([]);
  });

  it('finds a call by any id that somebody has of it (contract: call-log/request-ids)', async () => {
    const client = '7b3c0f58-4f0e-4d43-9a5e-000000000001';
    const attempts = [
      ['req_first', 1, 8, 500, 'server_error', 'one', 'b-1'],
      ['req_second', 9, 8],
    ];
    const hit = await log({ clientRequestId: client, attempts });
    await log({ clientRequestId: 'order-1' });
    for (const id of [hit, hit.toUpperCase(), hit.slice(0, 23), client, 'req_first', 'req_second'])
      expect(await found({ id }), id).toEqual([hit]);
    expect(await found({ clientRequestId: client })).toEqual([hit]);
    for (const id of [client.slice(0, 12), 'req_firs', 'REQ_first', '----', "' OR 1=1"])
      expect(await found({ id }), id).toEqual([]);
    for (const id of [hit, client, 'req_first']) expect(await found({ id }, other), id).toEqual([]);
  });
});
