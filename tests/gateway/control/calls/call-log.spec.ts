import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showCall } from '#lib/control/operations/call/operations';
import { showUsage } from '#lib/control/operations/usage/operations';
import { noUsage } from '#lib/core/metering/usage';
import { systemClock } from '#lib/platform/clock';
import { type Db, openDb } from '#lib/platform/data/db';
import { createIds } from '#lib/platform/ids';
import { type CommandLine, commandLine } from '#tests/support/command';
import { listCalls, operate } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let db: Db;
let gateway: CommandLine;
let workspace: { id: string; slug: string };
let key: string;
let other: string;

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  gateway = commandLine(database.url);
  workspace = await gateway.json('workspace', 'create', '--name', 'Log', '--time-zone', 'Asia/Tokyo');
  other = (await gateway.json<{ slug: string }>('workspace', 'create', '--name', 'Other')).slug;
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
      settledAt: new Date(Date.parse(iso) + 1234),
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
      endReason: 'completed',
      usageSource: 'reported',
      flags: [],
      usage: { ...noUsage, input: 10, output: 3 },
      lines: [['input', 10, '2000000001']],
      costNano: 20_001n,
      holdNano: 30_000n,
      overHoldNano: 0n,
      attempts: [['up-1', 1, 8, 200, null, 'one', 'b-1']],
      ...changed,
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
      settledAt: '2026-07-01T10:00:01.234Z',
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
      priceSince: null,
      usage: { ...noUsage, input: 10, output: 3 },
      lines: [{ class: 'input', quantity: 10, unitPrice: '2.000000001', cost: '0.00002000000001' }],
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
    expect(await operate(db, showCall, { workspace: 'log', id: id.toUpperCase() })).toMatchObject({ id });
    for (const given of [{ workspace: other, id }, { id: "' OR 1=1" }, { id: workspace.id }])
      await expect(operate(db, showCall, given)).rejects.toMatchObject({ code: 'not_found', field: 'id' });
  });
});

describe('the list of calls', () => {
  it('pages from the newest on, and a page stays the same while calls arrive', async () => {
    const ids = [];
    for (const minute of ['01', '02', '03', '04', '05']) ids.push(await log(`2026-08-01T10:${minute}:00Z`));
    const first = await listCalls(db, 'log', { limit: 2 });
    expect(first.data.map((call) => call.id)).toEqual([ids[4], ids[3]]);
    await log('2026-08-02T00:00:00Z');
    const second = await listCalls(db, 'log', { after: first.next, limit: 2 });
    expect(second.data.map((call) => call.id)).toEqual([ids[2], ids[1]]);
    const from = '2026-08-01T10:01:00Z';
    const last = await listCalls(db, 'log', { from, after: second.next, limit: 2 });
    expect(last).toMatchObject({ data: [{ id: ids[0] }], next: null });
    expect(await listCalls(db, other)).toEqual({ data: [], next: null });
  });

  it('is narrowed by each filter, and by several at once', async () => {
    const hit = await log('2026-09-01T00:00:00Z', {
      status: 429,
      errorCode: 'workspace_rpm_exceeded',
      requestedModel: 'c/d',
      answeringModel: null,
      provider: 'two',
    });
    const from = '2026-09-01T00:00:00Z';
    const wanted: Record<string, string>[] = [
      { status: '429' },
      { status: '4xx' },
      { errorCode: 'workspace_rpm_exceeded' },
      { model: 'c/d' },
      { provider: 'two' },
      { key, from },
      { from, to: '2026-09-01T00:00:01Z' },
      { from: '2026-09-01' },
      { id: hit.slice(0, 13) },
      { id: hit },
      { status: '4xx', model: 'c/d', provider: 'two', from },
    ];
    for (const filters of wanted) {
      const { data } = await listCalls(db, 'log', filters);
      expect(
        data.map((call) => call.id),
        JSON.stringify(filters),
      ).toEqual([hit]);
    }
    for (const filters of [
      { status: '5xx' },
      { status: '428' },
      { id: 'f0' },
      { key: 'nonsense' },
      { to: '2001-01-01' },
    ])
      expect((await listCalls(db, 'log', filters)).data, JSON.stringify(filters)).toEqual([]);
  });

  it('finds a call by the id that a provider gave one of its attempts, within a day (contract: call-log/attempts)', async () => {
    const attempts = [
      ['up-first', 1, 8, 500, 'server_error', 'one', 'b-1'],
      ['up-"second" é', 9, 8],
    ];
    const old = await log('2026-09-20T12:00:00Z', { attempts });
    const recent = await log(new Date(Date.now() - 3_600_000).toISOString(), { attempts });
    const found = async (given: Record<string, unknown>) =>
      (await listCalls(db, 'log', given)).data.map((call) => call.id);
    for (const upstreamRequestId of ['up-first', 'up-"second" é'])
      expect(await found({ upstreamRequestId })).toEqual([recent]);
    const upstreamRequestId = 'up-first';
    expect(await found({ upstreamRequestId, from: '2026-09-19T12:00:01Z' })).toEqual([old]);
    expect(await found({ upstreamRequestId, to: '2026-09-21' })).toEqual([old]);
    expect(await found({ upstreamRequestId, from: '2026-09-20', to: '2026-09-21' })).toEqual([old]);
    expect(await found({ upstreamRequestId, from: '2026-09-19T11:59:59Z' })).toEqual([]);
    expect(await found({ upstreamRequestId: 'up-firs' })).toEqual([]);
    expect((await listCalls(db, other, { upstreamRequestId })).data).toEqual([]);
    const tooLong = { upstreamRequestId, from: '2026-09-20', to: '2026-09-21T00:00:01Z' };
    await expect(listCalls(db, 'log', tooLong)).rejects.toMatchObject({ code: 'invalid_body', field: 'to' });
    const printed = await gateway.run(
      'call',
      'list',
      '--workspace',
      'log',
      '--upstream-request-id',
      'up-first',
    );
    expect(printed.out).toContain(recent);
    expect(printed.out).not.toContain(old);
  });

  it.each([
    ['status', '4x'],
    ['status', '600'],
    ['status', '٤٢٩'],
    ['id', ''],
    ['minCost', '-1'],
    ['maxLatency', 1.5],
    ['streamed', 'yes'],
    ['family', 'nobody'],
    ['model', 'a\u0000b'],
    ['model', ''],
    ['provider', 'a\ud800b'],
    ['key', 'a\u0000b'],
    ['errorCode', 'x'.repeat(501)],
    ['from', 'noon'],
    ['to', '9999-01-01'],
    ['after', 'nonsense'],
    ['limit', 501],
    ['colour', 'red'],
  ])('refuses the %s %j by its name', async (field, value) => {
    await expect(listCalls(db, 'log', { [field]: value })).rejects.toMatchObject({
      code: 'invalid_body',
      field,
    });
  });

  it('is what call list prints', async () => {
    const flags = ['call', 'list', '--workspace', 'log'];
    const page = await gateway.json<{ data: { id: string }[]; next: string | null }>(
      ...flags,
      '--limit',
      '1',
    );
    expect(page.data).toHaveLength(1);
    const after = await gateway.json<typeof page>(...flags, '--limit', '1', '--after', String(page.next));
    expect(after.data[0]?.id).not.toBe(page.data[0]?.id);
    expect(await gateway.run(...flags, '--limit', '0')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('--limit'),
    });
    const shown = await gateway.run(...flags, '--error-code', 'workspace_rpm_exceeded');
    expect(shown.out.split('\n')[0]).toMatch(
      /^at +id +status +errorCode +answeringModel +provider +latencyMs +cost$/,
    );
    expect(shown.out.trimEnd().split('\n')).toHaveLength(2);
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
      clientErrors: 1,
      inputTokens: 10n,
      cachedTokens: 4n,
      outputTokens: 3n,
      costNano: 1_500_000_000n,
    };
    await db.prisma.usageQuarter.createMany({
      data: [
        // 23:45 and 00:00 in Tokyo.
        { ...row, quarter: new Date('2026-03-10T14:45:00Z'), model: 'a/b' },
        { ...row, quarter: new Date('2026-03-10T15:00:00Z'), model: 'c/d', costNano: 2_000_000_000n },
        { ...row, quarter: new Date('2026-02-28T14:45:00Z'), model: 'c/d' },
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

  it('groups by model, by provider and by key, the most expensive first', async () => {
    expect((await report('model')).rows).toMatchObject([{ model: 'c/d' }, { model: 'a/b' }]);
    expect((await report('provider')).rows).toMatchObject([{ provider: 'one', calls: 4, cost: '3.5' }]);
    expect((await report('key')).rows).toMatchObject([{ key, name: 'ci', calls: 4 }]);
  });

  it('counts the last 30 days without a range, and names what it was widened to', async () => {
    const nowMs = Date.now();
    const report = await operate(db, showUsage, { workspace: 'log' });
    expect(Date.parse(report.to) - nowMs).toBeLessThanOrEqual(900_000 + 60_000);
    expect((Date.parse(report.to) - Date.parse(report.from)) / 900_000).toBeOneOf([2880, 2881]);
    const cut = { workspace: 'log', from: '2026-03-10T14:59:00Z', to: '2026-03-10T15:00:01Z', by: 'day' };
    expect(await operate(db, showUsage, cut)).toMatchObject({
      from: '2026-03-10T14:45:00.000Z',
      to: '2026-03-10T15:15:00.000Z',
      cost: '3.5',
    });
    expect((await operate(db, showUsage, { ...cut, workspace: other })).rows).toEqual([]);
  });

  it.each([
    [{ from: '2026-03-02', to: '2026-03-01' }, 'to'],
    [{ from: '2026-03-01', to: '2026-03-01' }, 'to'],
    [{ from: 'noon' }, 'from'],
    [{ by: 'colour' }, 'by'],
  ])('refuses %j', async (given, field) => {
    await expect(operate(db, showUsage, { workspace: 'log', ...given })).rejects.toMatchObject({ field });
  });

  it('counts days in UTC where the database does not know the zone of the workspace', async () => {
    await db.prisma.workspace.update({ where: { slug: other }, data: { timeZone: 'Mars/Base' } });
    expect(await operate(db, showUsage, { workspace: other, by: 'day' })).toMatchObject({ rows: [] });
  });
});
