import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { setConsoleHost } from '#lib/console/host';
import { readStatus } from '#lib/console/status/read';
import { checkCatalogue } from '#lib/control/catalogue/files';
import {
  createIncident,
  listIncidents,
  resolveIncident,
  stateOfIncident,
  updateIncident,
} from '#lib/control/operations/incident/operations';
import { ask } from '#lib/control/operations/run';
import { etagOf } from '#lib/control/operations/state';
import { type Status, showStatus } from '#lib/control/operations/status/operations';
import { keepStatusFresh } from '#lib/control/operations/status/refresh';
import { type Db, openDb } from '#lib/platform/data/db';
import { InProcessThrottle } from '#lib/platform/throttle/in-process';
import { controlHost, createWorkspace, operate } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { eventually } from '#tests/support/eventually';
import { applySet } from '#tests/support/provider/apply-set';

const catalogue = `
providers:
  - { id: one, name: One, families: { chat: "https://one.test/v1" }, credential: { env: ONE_KEY } }
  - { id: two, name: Two, families: { chat: "https://two.test/v1" }, credential: { env: TWO_KEY } }
  - { id: closed, name: Closed, families: { chat: "https://closed.test/v1" }, credential: { env: NO_KEY } }
models:
  - { id: openai/gpt-4.1, name: M, contextTokens: 1000, maxOutputTokens: 100, input: [text], output: [text],
      offers: [one, two, closed] }
`.replace(
  '[one, two, closed]',
  `[${['one', 'two', 'closed'].map((id) => `{ provider: ${id}, upstreamModel: m, families: [chat], price: { input: "2" } }`).join(', ')}]`,
);

let database: TestDatabase;
let db: Db;
let workspaceId: string;
let demoId: string;
const dayMs = 86_400_000;

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  await applySet(db, checkCatalogue([{ name: 'status.yaml', text: catalogue }]));
  workspaceId = (await createWorkspace(db, { name: 'Secret Customer' })).id;
  demoId = randomUUID();
  await db.prisma.workspace.create({ data: { id: demoId, slug: 'made-up', name: 'Made up', demo: true } });
});
afterAll(async () => {
  setConsoleHost(null);
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  // What a look of the test before counts beside it would take this one's turn.
  await eventually(isIdle, true);
  for (const table of ['usage_quarter', 'usage_quarter_counted', 'status_day', 'call', 'incident']) {
    await db.pool.query(`DELETE FROM ${table}`);
  }
  await due();
});

/** Whether nothing asks the database, and nobody is about to count. */
async function isIdle(): Promise<boolean> {
  const { idleCount, totalCount, waitingCount } = db.pool;
  if (idleCount < totalCount || waitingCount > 0) return false;
  const { rows } = await db.pool.query(
    `SELECT taken_until IS NULL AS free FROM fleet_duty WHERE name = 'status'`,
  );
  return rows[0]?.free === true;
}

const due = () =>
  db.pool.query(
    `UPDATE fleet_duty SET done_at = NULL, taken_until = NULL, result = NULL WHERE name = 'status'`,
  );

interface Counted {
  provider?: string;
  calls?: number;
  refused?: number;
  provider_errors?: number;
  gateway_errors?: number;
  broken_errors?: number;
  first_byte?: string;
}

async function count(
  agoMs: number,
  given: Counted,
  place = { workspace: workspaceId, table: 'usage_quarter' },
) {
  const { provider = '', ...rest } = given;
  const names = Object.keys(rest);
  await db.pool.query(
    `INSERT INTO ${place.table} (workspace_id, quarter, key_id, model, provider, ${names.join(', ')})
     VALUES ($1, date_bin('15 minutes', $2, '2000-01-01Z'), $3, 'm', $4, ${names.map((_, at) => `$${at + 5}`).join(', ')})`,
    [place.workspace, new Date(Date.now() - agoMs), randomUUID(), provider, ...Object.values(rest)],
  );
}

/** After a count, where one is due. */
const show = async () => {
  await keepStatusFresh(db.pool, Date.now());
  return look();
};

/** As any stranger asks, with credentials for two of the providers. */
const look = () => {
  const host = controlHost(db);
  const withKeys = async () => {
    const { loadCatalogue } = await import('#lib/gateway/snapshot/catalogue');
    return loadCatalogue(db.pool, {
      envSecret: (name) => (name === 'NO_KEY' ? undefined : 'secret'),
      sealingKey: null,
    });
  };
  return ask({ ...host, catalogue: withKeys }, showStatus, {
    actor: { kind: 'anonymous', address: null },
    input: {},
  });
};
const providerOf = (status: Status, id: string) => status.providers.find((one) => one.id === id);

describe('the status page (contract: operations/status-page)', () => {
  it('counts the calls of all workspaces by provider, of today and of days that are counted', async () => {
    await count(0, { provider: 'one', calls: 150, refused: 50, provider_errors: 2 });
    await count(
      10 * dayMs,
      { provider: 'one', calls: 100, broken_errors: 2 },
      {
        workspace: workspaceId,
        table: 'usage_quarter_counted',
      },
    );
    const status = await show();
    expect(status.days).toHaveLength(90);
    expect(providerOf(status, 'one')).toMatchObject({ availability: 196 / 200, state: 'operational' });
    expect(providerOf(status, 'one')?.days.slice(-11)).toEqual([0.98, ...Array(9).fill(null), 0.98]);
  });

  it('tells by the last hour how a provider is, and nothing of one with too few calls', async () => {
    await count(0, { provider: 'one', calls: 100, provider_errors: 60 });
    await count(2 * dayMs, { provider: 'one', calls: 9900 });
    await count(0, { provider: 'two', calls: 99, provider_errors: 99 });
    const status = await show();
    expect(providerOf(status, 'one')?.state).toBe('down');
    expect(providerOf(status, 'two')).toMatchObject({
      state: 'no data',
      availability: null,
      latencyMs: null,
    });
    expect(providerOf(status, 'closed'), 'no call can go there').toBeUndefined();
  });

  it('counts against the gateway what it could serve nobody, and not what providers or limits did', async () => {
    await count(0, { calls: 90, refused: 90, gateway_errors: 5 });
    await count(0, { provider: 'one', calls: 110, provider_errors: 110 });
    expect((await show()).gateway.availability).toBe(195 / 200);
  });

  it('tells what the gateway itself adds to a call', async () => {
    await count(0, { provider: 'one', calls: 100 });
    const { createIds } = await import('#lib/platform/ids');
    const { systemClock } = await import('#lib/platform/clock');
    const ids = createIds(systemClock);
    for (const [overhead, reason] of [
      [1, 'completed'],
      [3, 'completed'],
      [900, 'refused'],
    ] as const) {
      await db.pool.query(
        `INSERT INTO call (id, at, workspace_id, key_id, family, operation, status, streamed, latency_ms, overhead_ms,
           end_reason, usage_source, flags, usage, lines, attempts, cost_nano, hold_nano, over_hold_nano)
         VALUES ($1, now(), $2, $2, 'chat', 'chat.create', 200, false, 1, $3, $4, 'none', '{}', '{}', '[]', '[]', 0, 0, 0)`,
        [ids.newId(), workspaceId, overhead, reason],
      );
    }
    expect((await show()).gateway.latencyMs?.p50).toBeCloseTo(2);
  });

  it('leaves out made-up calls', async () => {
    await count(
      0,
      { provider: 'one', calls: 500, provider_errors: 500 },
      {
        workspace: demoId,
        table: 'usage_quarter',
      },
    );
    expect(providerOf(await show(), 'one')).toMatchObject({ availability: null });
  });

  it('names no workspace, key, model or number of calls', async () => {
    await count(0, { provider: 'one', calls: 123_457 });
    const text = JSON.stringify(await show());
    expect(text).not.toMatch(/secret|123457|openai\/gpt/i);
    expect(text).not.toContain(workspaceId);
  });

  it('is counted once in five minutes, by one process of all', async () => {
    const turns = await Promise.all(Array.from({ length: 8 }, () => keepStatusFresh(db.pool, Date.now())));
    expect(turns.filter(Boolean)).toHaveLength(1);
    await count(0, { provider: 'one', calls: 500 });
    expect(providerOf(await show(), 'one')?.availability).toBeNull();
    await due();
    expect(providerOf(await show(), 'one')?.availability).toBe(1);
  });

  it('counts a day again that late journals added to', async () => {
    await count(dayMs, { provider: 'one', calls: 100 });
    await show();
    await count(dayMs, { provider: 'one', calls: 100, provider_errors: 20 });
    await db.pool.query(`UPDATE fleet_duty SET done_at = now() - interval '6 minutes' WHERE name = 'status'`);
    expect(providerOf(await show(), 'one')?.availability).toBe(0.9);
  });

  it('shows what is counted and counts beside it: no reader waits', async () => {
    await count(0, { provider: 'one', calls: 500 });
    const settling = await db.pool.connect();
    await settling.query('BEGIN; LOCK TABLE usage_quarter IN ACCESS EXCLUSIVE MODE');
    const status = await look();
    expect(status.measuredAt).toBeNull();
    expect(providerOf(status, 'one')).toMatchObject({ state: 'no data', availability: null });
    await settling.query('COMMIT');
    settling.release();
    await eventually(async () => providerOf(await look(), 'one')?.availability, 1);
    await eventually(async () => (await look()).measuredAt !== null, true);
  });

  it('goes on with the day at which the process that counted was killed', async () => {
    await count(80 * dayMs, { provider: 'one', calls: 100, provider_errors: 100 });
    await count(3 * dayMs, { provider: 'one', calls: 100 });
    const killed = openDb(database.url, { max: 1 });
    await killed.pool.query(
      `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF (NEW.result->>'next')::timestamptz > now() - interval '10 days' THEN RAISE 'killed'; END IF; RETURN NEW;
       END $$;
       CREATE TRIGGER die BEFORE UPDATE ON fleet_duty FOR EACH ROW EXECUTE FUNCTION die()`,
    );
    await expect(keepStatusFresh(killed.pool, Date.now())).rejects.toThrow('killed');
    await killed.pool.query('DROP FUNCTION die CASCADE');
    await killed.close();
    expect(providerOf(await look(), 'one'), 'what was counted').toMatchObject({ availability: 0 });
    await count(80 * dayMs, { provider: 'one', calls: 900 });
    expect(await keepStatusFresh(db.pool, Date.now()), 'while its turn lasts').toBe(false);
    await db.pool.query(
      `UPDATE fleet_duty SET taken_until = now() - interval '1 second' WHERE name = 'status'`,
    );
    expect(await keepStatusFresh(db.pool, Date.now())).toBe(true);
    expect(providerOf(await look(), 'one'), 'counted once').toMatchObject({ availability: 0.5 });
  });
});

describe('incidents', () => {
  const open = (more: Record<string, unknown> = {}) =>
    operate(db, createIncident, {
      title: 'Slow answers',
      impact: 'degraded',
      text: 'We look into it.',
      ...more,
    });

  it('stand on the status page from the first word to the last, and say how what they affect is', async () => {
    await count(0, { provider: 'one', calls: 100 });
    const { id } = await open({ affects: ['one'] });
    await operate(db, updateIncident, { id, text: 'A line is cut.', state: 'identified', impact: 'outage' });
    const during = await show();
    expect(providerOf(during, 'one')?.state).toBe('down');
    expect(during.gateway.state).toBe('operational');
    await operate(db, resolveIncident, { id, text: 'It is mended.' });
    const after = await show();
    expect(providerOf(after, 'one')?.state).toBe('operational');
    expect(after.incidents).toMatchObject([
      {
        id,
        title: 'Slow answers',
        impact: 'outage',
        affects: ['one'],
        state: 'resolved',
        updates: [
          { state: 'resolved', text: 'It is mended.' },
          { state: 'identified', text: 'A line is cut.' },
          { state: 'investigating', text: 'We look into it.' },
        ],
      },
    ]);
    expect(await db.prisma.audit.count({ where: { subject: id } })).toBe(3);
  });

  it('are resolved once, and are not updated after that', async () => {
    const { id } = await open();
    const both = [1, 2].map(() => operate(db, resolveIncident, { id, text: 'Over.' }));
    await Promise.all(both);
    expect(await db.prisma.incidentUpdate.count({ where: { incidentId: id } })).toBe(2);
    const late = operate(db, updateIncident, { id, text: 'More.' });
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
    const { data } = await operate(db, listIncidents, {});
    expect(data).toMatchObject([{ id, state: 'resolved' }]);
  });

  it('are neither updated nor resolved by a page that misses an update (contract: control-plane/two-tabs)', async () => {
    const { id } = await open();
    const shownTag = async () => {
      const { data } = await operate(db, listIncidents, {});
      return data.flatMap((one) => (one.id === id ? [etagOf(stateOfIncident(one))] : []))[0] ?? '';
    };
    const actor = { kind: 'operator', name: 'test', address: null } as const;
    const ifMatch = await shownTag();
    const send = (operation: typeof updateIncident | typeof resolveIncident, tag: string) =>
      ask(controlHost(db), operation, { actor, input: { id, text: 'From a tab.' }, ifMatch: tag });
    await operate(db, updateIncident, { id, text: 'From the other.', state: 'monitoring' });
    for (const operation of [updateIncident, resolveIncident])
      await expect(send(operation, ifMatch)).rejects.toMatchObject({ code: 'conflict' });
    expect((await operate(db, listIncidents, {})).data).toMatchObject([{ id, state: 'monitoring' }]);
    await send(updateIncident, await shownTag());
    await send(resolveIncident, await shownTag());
  });

  it('affect what is there, and have begun', async () => {
    await expect(open({ affects: ['nobody'] })).rejects.toMatchObject({ field: 'affects' });
    await expect(open({ affects: [] })).rejects.toMatchObject({ field: 'affects' });
    await expect(open({ startedAt: '2100-01-01T00:00:00Z' })).rejects.toMatchObject({ field: 'startedAt' });
    const gone = operate(db, resolveIncident, { id: randomUUID(), text: 'Over.' });
    await expect(gone).rejects.toMatchObject({ code: 'not_found', field: 'id' });
  });
});

describe('the page', () => {
  const hosted = (statusPage: boolean) => {
    let asked = 0;
    const host = controlHost(db);
    const catalogue = () => {
      asked++;
      return host.catalogue();
    };
    const counting = { ...host, catalogue };
    setConsoleHost({
      control: counting,
      env: { publicUrl: 'http://localhost', authSecrets: ['secret'], statusPage },
      throttle: new InProcessThrottle(() => 0),
      report: (error) => console.error(error),
    });
    return () => asked;
  };

  it('asks the database once in ten seconds, however many strangers read it', async () => {
    const asked = hosted(true);
    const nowMs = Date.now() + dayMs;
    await Promise.all(Array.from({ length: 50 }, (_, at) => readStatus(nowMs + at)));
    expect(asked()).toBe(1);
    await readStatus(nowMs + 10_001);
    expect(asked()).toBe(2);
  });

  it('is not there when it is turned off', async () => {
    hosted(false);
    await expect(readStatus(Date.now())).rejects.toMatchObject({ digest: expect.stringContaining('404') });
  });
});
