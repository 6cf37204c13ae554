import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkCatalogue } from '#lib/control/catalogue/files';
import { listFlagged } from '#lib/control/operations/call/flagged';
import { showFleetHealth } from '#lib/control/operations/fleet/health';
import { listJournals } from '#lib/control/operations/fleet/journals';
import { listLeases, listProcesses } from '#lib/control/operations/fleet/processes';
import { ask } from '#lib/control/operations/run';
import { showBillingState } from '#lib/control/operations/top-up/state';
import { showVerification, startVerification } from '#lib/control/operations/verification/operations';
import { writesCounts } from '#lib/gateway/content/counts';
import { untried } from '#lib/gateway/routing/health';
import { systemClock } from '#lib/platform/clock';
import { type Db, openDb } from '#lib/platform/data/db';
import { createIds } from '#lib/platform/ids';
import { controlHost, createWorkspace, operate } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { insist } from '#tests/support/eventually';
import { applySet } from '#tests/support/provider/apply-set';

const catalogue = `
providers: [{ id: one, name: One, families: { chat: "https://one.test/v1" }, credential: { env: ONE_KEY } }]
models:
  - { id: m/a, name: A, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: one, upstreamModel: a, families: [chat], price: { input: "2" } }] }
  - { id: m/b, name: B, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [{ provider: one, upstreamModel: b, families: [chat], price: { input: "2" } }] }
`;

let database: TestDatabase;
let db: Db;
let workspace: { id: string; slug: string };
const demoId = randomUUID();
const ids = createIds(systemClock);

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  await applySet(db, checkCatalogue([{ name: 'fleet.yaml', text: catalogue }]));
  workspace = await createWorkspace(db, { name: 'Fleet' });
  await db.prisma.workspace.create({ data: { id: demoId, slug: 'made-up', name: 'Made up', demo: true } });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

interface LoggedCall {
  workspaceId?: string;
  model?: string;
  status?: number;
  end?: string;
  flags?: string[];
  usage?: object;
  attempts?: unknown[];
}

async function logCall(given: LoggedCall): Promise<string> {
  const { workspaceId = workspace.id, model = 'm/a', status = 200, end = 'completed', flags = [] } = given;
  const id = ids.newId() ?? '';
  await db.pool.query(
    `INSERT INTO call (id, at, workspace_id, key_id, family, operation, status, streamed, latency_ms, overhead_ms,
       end_reason, usage_source, flags, usage, lines, attempts, cost_nano, hold_nano, over_hold_nano, provider,
       answering_model)
     VALUES ($1, now(), $2, $2, 'chat', 'chat.create', $3, false, 1, 1, $4, 'none', $5, $6, '[]', $7, 0, 0, 0, 'one', $8)`,
    [
      id,
      workspaceId,
      status,
      end,
      flags,
      JSON.stringify(given.usage ?? {}),
      JSON.stringify(given.attempts ?? []),
      model,
    ],
  );
  return id;
}

describe('the processes of the fleet (contract: control-plane/fleet)', () => {
  it('are listed with their versions, what they may spend and how far their journals are', async () => {
    const [living, dead] = [randomUUID(), randomUUID()];
    const key = await db.prisma.apiKey.create({
      data: {
        id: randomUUID(),
        workspaceId: workspace.id,
        name: 'k',
        hash: new Uint8Array(8),
        displayStart: 'mg_aaaa',
        displayEnd: 'aaaa',
        models: [],
      },
    });
    for (const [id, pid, life] of [
      [living, 11, 45],
      [dead, 12, -1],
    ] as const) {
      await db.pool.query(
        `INSERT INTO owner (id, machine, pid, expires_at, version) VALUES ($1, 'a', $2, now() + $3 * interval '1 s', '1.2.3')`,
        [id, pid, life],
      );
    }
    for (const [kind, subject, granted] of [
      ['workspace', workspace.id, 2_000_000_000],
      ['key', key.id, 1],
    ] as const) {
      await db.pool.query(
        'INSERT INTO lease (owner_id, kind, subject_id, granted_nano, held_nano) VALUES ($1, $2, $3, $4, 5)',
        [living, kind, subject, granted],
      );
    }
    await db.pool.query('INSERT INTO journal_position VALUES ($1, 3, 4096, true)', [living]);
    const content = { counts: () => ({ kept: 7, lost: 2 }), answers: () => false };
    await writesCounts(db.pool, living, content)();
    const { data } = await operate(db, listProcesses, {});
    expect(data).toMatchObject([
      {
        id: living,
        pid: 11,
        alive: true,
        version: '1.2.3',
        leases: 1,
        granted: '2',
        held: '0.000000005',
        journal: { file: 3, bytes: '4096' },
        contentKept: 7,
        contentLost: 2,
        contentAnswers: false,
      },
      { id: dead, alive: false, leases: 0, journal: null, contentKept: 0, contentAnswers: null },
    ]);
    const leases = await operate(db, listLeases, { limit: 1 });
    expect(leases).toMatchObject({
      all: 2,
      data: [{ kind: 'workspace', workspace: workspace.slug, granted: '2' }],
    });
    expect((await operate(db, listLeases, {})).data[1]).toMatchObject({ kind: 'key', key: key.id });
  });

  it('show the journals of the machine that answers, and what could not be posted', async () => {
    const journalDir = mkdtempSync(join(tmpdir(), 'journals-'));
    const owner = randomUUID();
    writeFileSync(join(journalDir, `${owner}-1.log`), 'x'.repeat(100));
    writeFileSync(join(journalDir, `${owner}-2.log`), 'x'.repeat(20));
    writeFileSync(join(journalDir, `${owner}.damaged`), 'not JSON\n');
    const asked = { actor: { kind: 'operator', name: 'test', address: null } as const, input: {} };
    const found = await ask({ ...controlHost(db), journalDir }, listJournals, asked);
    expect(found).toMatchObject({
      kept: true,
      data: [{ process: owner, alive: false, files: 2, bytes: 120 }],
      setAside: [{ kind: 'damaged', file: `${owner}.damaged`, call: null }],
      setAsideAll: 1,
    });
    rmSync(journalDir, { recursive: true });
    expect(await operate(db, listJournals, {})).toMatchObject({ kept: false, data: [] });
  });
});

describe('the health of offers', () => {
  it('tells breakers and last errors, those in trouble first, and nothing of clients’ mistakes', async () => {
    const failed = await logCall({
      status: 502,
      end: 'upstream_error',
      model: 'm/b',
      attempts: [
        ['r1', 0, 5, 503, null, 'one', 'm/b'],
        ['r2', 5, 5, null, 'connection_reset', 'one', 'm/b'],
      ],
    });
    await logCall({ status: 400, end: 'completed', model: 'm/a', attempts: [['r3', 0, 5]] });
    await logCall({ workspaceId: demoId, status: 502, end: 'upstream_error', attempts: [['r4', 0, 5]] });
    const offers = await db.prisma.offer.findMany({ where: { modelId: 'm/a' } });
    const aside = { ...untried, failures: 5, tripped: true, openUntilMs: Date.now() + 60_000 };
    const host = {
      ...controlHost(db),
      health: async () => ({ processes: 1, of: (id: string) => (id === offers[0]?.id ? aside : untried) }),
    };
    const asked = { actor: { kind: 'operator', name: 'test', address: null } as const, input: {} };
    const { data, processes } = await ask(host, showFleetHealth, asked);
    expect(processes).toBe(1);
    expect(data).toMatchObject([
      { model: 'm/a', state: 'set aside', failures: 5, errors: [] },
      {
        model: 'm/b',
        state: 'untried',
        errors: [
          { call: failed, status: 503, error: null },
          { call: failed, status: null, error: 'connection_reset' },
        ],
      },
    ]);
  });
});

const flaggedBy = (input: Record<string, unknown>) => operate(db, listFlagged, input);

describe('flagged charges (contract: call-log/flags)', () => {
  it('are listed of every workspace with what was claimed, page by page, but not of made-up calls', async () => {
    const first = await logCall({ flags: ['usage_anomaly'], usage: { input: 9_000_000, output: 0 } });
    await logCall({ flags: ['usage_negative'] });
    await logCall({ flags: ['usage_anomaly'], workspaceId: demoId });
    const second = await logCall({ flags: ['other', 'unpriced_tier'] });
    await db.pool.query(
      `INSERT INTO adjustment (call_id, workspace_id, report, seen_at, settled_at, flags, amount_nano)
       VALUES ($1, $2, '{}', now(), now(), '{usage_anomaly}', 7)`,
      [second, workspace.id],
    );
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await operate(db, listFlagged, { limit: 1, ...(after ? { after } : {}) });
      seen.push(...page.data.map(({ call, of }) => `${call} ${of}`));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(seen).toEqual([`${second} call`, `${second} adjustment`, `${first} call`]);
    const dearest: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const from = next === '' ? {} : { after: next };
      const page: Awaited<ReturnType<typeof flaggedBy>> = await flaggedBy({
        sort: '-cost',
        limit: 1,
        ...from,
      });
      dearest.push(...page.data.map(({ of, cost }) => `${of} ${cost}`));
      next = page.next;
    }
    expect(dearest).toEqual(['adjustment 0.000000007', 'call 0', 'call 0']);
    const { data } = await operate(db, listFlagged, { flag: 'usage_anomaly' });
    expect(data.map(({ call }) => call)).toEqual([second, first]);
    expect(data[1]).toMatchObject({ workspace: workspace.slug, claimed: { input: 9_000_000 }, cost: '0' });
    await expect(operate(db, listFlagged, { after: 'x' })).rejects.toMatchObject({ field: 'after' });
  });
});

describe('payments', () => {
  it('tell how the last comparison ended, and what was quarantined', async () => {
    expect(await operate(db, showBillingState, {})).toMatchObject({
      configured: false,
      at: null,
      last: null,
    });
    await db.pool.query(
      `UPDATE fleet_duty SET done_at = now(), result = '{"checked":7,"credited":1,"drift":"0.5","lost":0}'
       WHERE name = 'reconcile'`,
    );
    await db.pool.query(
      `INSERT INTO stripe_event (id, type, created_at, outcome, why, payment_intent)
       VALUES ('evt_1', 'x', now(), 'quarantined', 'another amount', 'pi_1')`,
    );
    expect(await operate(db, showBillingState, {})).toMatchObject({
      running: false,
      last: { checked: 7, credited: 1, drift: '0.5' },
      quarantined: [{ event: 'evt_1', why: 'another amount', payment: 'pi_1' }],
    });
  });
});

describe('a verification of the ledger in the background (contract: control-plane/verification-runs)', () => {
  const state = () => operate(db, showVerification, {});

  it('runs once at a time, and its result is kept with the rows that break an invariant', async () => {
    await db.pool.query(
      `INSERT INTO ledger_line (id, workspace_id, amount_nano, kind, ref) VALUES ($1, $2, 5, 'adjustment', 'by hand')`,
      [randomUUID(), workspace.id],
    );
    // Until this is unlocked, the one that starts does not end.
    const lock = await db.pool.connect();
    await lock.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE ledger_line');
    const tries = await Promise.allSettled([1, 2, 3].map(() => operate(db, startVerification, {})));
    await lock.query('COMMIT');
    lock.release();
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await insist(async () => expect(await state()).toMatchObject({ running: false, last: { error: null } }));
    const { last } = await state();
    expect(last?.ok).toBe(false);
    expect(last?.checks.filter(({ broken }) => broken > 0).length).toBeGreaterThan(0);
    expect(last?.checks.length).toBeGreaterThan(10);
  });

  it('can be started again when the process that ran it was killed', async () => {
    await db.pool.query(`UPDATE fleet_duty SET taken_until = now() - interval '1 s' WHERE name = 'verify'`);
    expect((await state()).running).toBe(false);
    await operate(db, startVerification, {});
    await insist(async () => expect((await state()).running).toBe(false));
  });
});
