import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#lib/clock';
import { type Db, openDb } from '#lib/data/db';
import { createIds } from '#lib/ids';
import { noUsage } from '#lib/metering/usage';
import { type CallFilters, findCall, listCalls } from '#lib/queries/calls';
import { type CommandLine, commandLine } from '#tests/support/command';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let db: Db;
let gateway: CommandLine;
let workspace: { id: string; slug: string };
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  gateway = commandLine(database.url);
  workspace = await gateway.json('workspace', 'create', '--name', 'Log', '--time-zone', 'Asia/Tokyo');
  key = (await gateway.json<{ id: string }>('key', 'create', '--workspace', 'log', '--name', 'ci')).id;
});
afterAll(async () => {
  gateway.close();
  await db.close();
  await database.drop();
});

/** A call's id at a moment of its own, so that pages and time filters have something to tell apart. */
function idAt(iso: string): string {
  const ids = createIds({ ...systemClock, now: () => Date.parse(iso) });
  return ids.newId() ?? '';
}

async function log(iso: string, changed: Record<string, unknown> = {}): Promise<string> {
  const id = idAt(iso);
  await db.prisma.call.create({
    data: {
      id,
      at: new Date(iso),
      workspaceId: workspace.id,
      keyId: key,
      family: 'chat',
      operation: 'chat.create',
      requestedModel: 'a/b',
      answeringModel: 'a/b',
      provider: 'one',
      status: 200,
      streamed: false,
      latencyMs: 12,
      firstByteMs: 9,
      overheadMs: 0.5,
      attemptCount: 1,
      endReason: 'completed',
      usageSource: 'reported',
      flags: [],
      usage: { ...noUsage, input: 10, output: 3 },
      lines: [{ class: 'input', quantity: 10, unitPriceNano: '2000000000', cost: '20000.000001' }],
      costNano: 20_001n,
      holdNano: 30_000n,
      overHoldNano: 0n,
      ...changed,
    },
  });
  await db.prisma.attempt.create({
    data: {
      callId: id,
      position: 0,
      id: idAt(iso),
      provider: 'one',
      model: 'b-1',
      status: 200,
      startMs: 1,
      durationMs: 8,
      upstreamRequestId: 'up-1',
    },
  });
  return id;
}

describe('call show', () => {
  it('prints the call as the contract shapes it, money in dollars', async () => {
    const id = await log('2026-07-01T10:00:00.000Z', { clientRequestId: 'mine' });
    expect(await gateway.json('call', 'show', id)).toMatchObject({
      id,
      clientRequestId: 'mine',
      at: '2026-07-01T10:00:00.000Z',
      workspace: 'log',
      key,
      keyName: 'ci',
      family: 'chat',
      operation: 'chat.create',
      requestedModel: 'a/b',
      answeringModel: 'a/b',
      provider: 'one',
      status: 200,
      errorCode: null,
      streamed: false,
      latencyMs: 12,
      firstByteMs: 9,
      overheadMs: 0.5,
      endReason: 'completed',
      usageSource: 'reported',
      cost: '0.000020001',
      priceVersion: null,
      usage: { ...noUsage, input: 10, output: 3 },
      lines: [{ class: 'input', quantity: 10, unitPrice: '2', cost: '0.000020000000001' }],
      attempts: [
        {
          provider: 'one',
          model: 'b-1',
          status: 200,
          error: null,
          startMs: 1,
          durationMs: 8,
          upstreamRequestId: 'up-1',
        },
      ],
    });
  });

  it('finds a call in its own workspace alone, and by its exact id', async () => {
    const id = await log('2026-07-01T11:00:00.000Z');
    expect(await findCall(db, { workspaceId: workspace.id, id: id.toUpperCase() })).toMatchObject({ id });
    expect(await findCall(db, { workspaceId: idAt('2026-01-01T00:00:00Z'), id })).toBeNull();
    expect(await findCall(db, { workspaceId: null, id: "' OR 1=1" })).toBeNull();
  });
});

describe('the list of calls', () => {
  it('pages from the newest on, and a page stays the same while calls arrive', async () => {
    const ids = [];
    for (const minute of ['01', '02', '03', '04', '05']) ids.push(await log(`2026-08-01T10:${minute}:00Z`));
    const first = await listCalls(db, { workspaceId: workspace.id, limit: 2 });
    expect(first.calls.map((call) => call.id)).toEqual([ids[4], ids[3]]);
    await log('2026-08-02T00:00:00Z');
    const second = await listCalls(db, { workspaceId: workspace.id, before: first.next ?? '', limit: 2 });
    expect(second.calls.map((call) => call.id)).toEqual([ids[2], ids[1]]);
    const filters = { from: Date.parse('2026-08-01T10:01:00Z') };
    const last = await listCalls(db, {
      workspaceId: workspace.id,
      filters,
      before: second.next ?? '',
      limit: 2,
    });
    expect(last).toMatchObject({ calls: [{ id: ids[0] }], next: null });
  });

  it('is narrowed by each filter', async () => {
    const hit = await log('2026-09-01T00:00:00Z', {
      status: 429,
      errorCode: 'workspace_rpm_exceeded',
      requestedModel: 'c/d',
      answeringModel: null,
      provider: 'two',
    });
    const wanted: CallFilters[] = [
      { status: 429 },
      { status: '4xx' },
      { errorCode: 'workspace_rpm_exceeded' },
      { model: 'c/d' },
      { provider: 'two' },
      { keyId: key, from: Date.parse('2026-09-01T00:00:00Z') },
      { from: Date.parse('2026-09-01T00:00:00Z'), to: Date.parse('2026-09-01T00:00:01Z') },
      { idPrefix: hit.slice(0, 13) },
    ];
    for (const filters of wanted) {
      const { calls } = await listCalls(db, { workspaceId: workspace.id, filters, limit: 10 });
      expect(
        calls.map((call) => call.id),
        JSON.stringify(filters),
      ).toEqual([hit]);
    }
    for (const filters of [{ status: '5xx' as const }, { idPrefix: 'zz' }, { keyId: 'nonsense' }]) {
      expect((await listCalls(db, { workspaceId: workspace.id, filters, limit: 10 })).calls).toEqual([]);
    }
  });

  it('is what call list prints', async () => {
    const page = await gateway.json<{ calls: { id: string }[] }>(
      'call',
      'list',
      '--workspace',
      'log',
      '--limit',
      '1',
    );
    expect(page.calls).toHaveLength(1);
    expect(await gateway.run('call', 'list', '--workspace', 'log', '--limit', '0')).toMatchObject({
      exit: 1,
    });
  });
});

describe('usage', () => {
  const report = async (by: string) => {
    const ran = await gateway.run(
      ...['usage', '--workspace', 'log', '--from', '2026-03-01', '--to', '2026-04-01', '--by', by, '--json'],
    );
    expect(ran.err).toBe('');
    return JSON.parse(ran.out);
  };

  beforeAll(async () => {
    const row = {
      workspaceId: workspace.id,
      keyId: key,
      provider: 'one',
      calls: 2,
      errors: 1,
      inputTokens: 10n,
      cachedTokens: 4n,
      outputTokens: 3n,
      costNano: 1_500_000_000n,
    };
    await db.prisma.usageHour.createMany({
      data: [
        // 23:30 and 00:30 in Tokyo.
        { ...row, hour: new Date('2026-03-10T14:00:00Z'), model: 'a/b' },
        { ...row, hour: new Date('2026-03-10T15:00:00Z'), model: 'c/d', costNano: 2_000_000_000n },
        { ...row, hour: new Date('2026-02-28T15:00:00Z'), model: 'c/d' },
      ],
    });
  });

  it('groups by day in the zone of the workspace', async () => {
    expect(await report('day')).toMatchObject({
      workspace: 'log',
      by: 'day',
      cost: '3.5',
      rows: [
        {
          day: '2026-03-10',
          calls: 2,
          errors: 1,
          inputTokens: 10,
          cachedTokens: 4,
          outputTokens: 3,
          cost: '1.5',
        },
        { day: '2026-03-11', cost: '2' },
      ],
    });
  });

  it('groups by model, by provider and by key, the dearest first', async () => {
    expect((await report('model')).rows).toMatchObject([{ model: 'c/d' }, { model: 'a/b' }]);
    expect((await report('provider')).rows).toMatchObject([{ provider: 'one', calls: 4, cost: '3.5' }]);
    expect((await report('key')).rows).toMatchObject([{ key, name: 'ci', calls: 4 }]);
  });
});
