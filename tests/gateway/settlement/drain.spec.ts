import { randomBytes } from 'node:crypto';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { makePartitions } from '#lib/control/retention/partitions';
import type { Posted } from '#lib/gateway/admission/claim';
import { type Drain, startDrain } from '#lib/gateway/settlement/drain';
import { type OwnJournal, openJournal } from '#lib/gateway/settlement/journal/journal';
import { listLeftovers } from '#lib/gateway/settlement/set-aside';
import { settle } from '#lib/gateway/settlement/settle';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import {
  addKey,
  callOf,
  closeOf,
  createCustomer,
  newDirectory,
  newId,
  openOf,
  refusedOf,
} from '#tests/support/settlement';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url });
  pool.on('error', () => {});
  await makePartitions(pool, Date.now());
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

interface Settler {
  journal: OwnJournal;
  drain: Drain;
  posted: Posted[];
  reports: { message: string; callId: string | null }[];
}

/** A journal whose drain runs only when asked. */
function createSettler(given: { pool?: Pool; dir?: string; schedule?: boolean } = {}): Settler {
  const posted: Posted[] = [];
  const reports: Settler['reports'] = [];
  const journal = openJournal(given.dir ?? newDirectory(), newId(), {
    report: () => {},
    onWritable: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  const drain = startDrain({
    pool: given.pool ?? pool,
    journal,
    onPosted: (calls) => posted.push(...calls),
    report: (error, callId) => reports.push({ message: error.message, callId }),
    schedule: () => () => {},
  });
  return { journal, drain, posted, reports };
}

async function row(text: string, values: unknown[]): Promise<Record<string, unknown>> {
  const found = await pool.query(text, values);
  return found.rows[0] ?? {};
}

const balanceOf = async (workspaceId: string) =>
  BigInt(String((await row('SELECT balance_nano FROM workspace WHERE id = $1', [workspaceId])).balance_nano));
const keyOf = (keyId: string) => row('SELECT * FROM api_key WHERE id = $1', [keyId]);

async function expectSound(): Promise<void> {
  const found = await verifyLedger({ pool });
  expect(found.checks.filter((check) => check.rows.length > 0)).toEqual([]);
  expect(found.ok).toBe(true);
}

describe('a drain', () => {
  it('logs a call, its attempts and its refusal, posts the charge, and reports it to the coordinator', async () => {
    const customer = await createCustomer(pool);
    const { journal, drain, posted } = createSettler();
    const call = callOf(customer, { costNano: 123n, atMs: 1_700_000_012_345 });
    const refused = refusedOf(customer);
    await Promise.all([journal.append(openOf(call)), journal.append(closeOf(call)), journal.append(refused)]);
    await drain.drainNow();

    const logged = await row('SELECT * FROM call WHERE id = $1', [call.id]);
    expect(logged).toMatchObject({ status: 200, cost_nano: '123', settled_at: expect.any(Date) });
    // What was not used is left out: whoever reads a usage fills it in.
    expect(logged.usage).toEqual({ input: 123, output: 3 });
    expect(logged.lines).toEqual([['input', 123, 1000000]]);
    expect(logged.attempts).toEqual([['req_1', 1, 110, 200, null, 'openai', 'gpt-4.1']]);
    expect(await row('SELECT * FROM call WHERE id = $1', [refused.callId])).toMatchObject({
      status: 402,
      error_code: 'insufficient_balance',
    });
    expect(
      await row(
        `SELECT l.* FROM ledger_line l JOIN call c USING (workspace_id)
           WHERE l.kind = 'usage' AND l.at = ledger_quarter(c.settled_at) AND c.id = $1`,
        [call.id],
      ),
    ).toMatchObject({ amount_nano: '-123', calls: 1, workspace_id: customer.workspaceId });
    expect(await balanceOf(customer.workspaceId)).toBe(999_999_999_877n);
    expect(
      await row('SELECT minute, spent_nano FROM spend_minute WHERE key_id = $1', [customer.keyId]),
    ).toEqual({
      minute: new Date(1_699_999_980_000),
      spent_nano: '123',
    });
    expect((await keyOf(customer.keyId)).last_used_at).toEqual(new Date(1_700_000_012_345));
    expect(posted).toEqual([{ callId: call.id, ...customer, funding: 'lease', chargeNano: 123n }]);
    expect(journal.backlog).toBe(0);
    await drain.stop();
    await journal.close();
  });

  it('settles 10,000 calls of several workspaces and keys with exact sums', async () => {
    const customers = await Promise.all(Array.from({ length: 4 }, () => createCustomer(pool)));
    const { journal, drain, posted } = createSettler();
    const spent = new Map<string, bigint>();
    for (let count = 0; count < 10_000; count++) {
      const customer = customers[count % 4];
      if (!customer) throw new Error('no customer');
      const costNano = BigInt((count * 7919) % 1000);
      const call = callOf(customer, { costNano });
      spent.set(customer.keyId, (spent.get(customer.keyId) ?? 0n) + costNano);
      void journal.append(openOf(call));
      void journal.append(closeOf(call));
    }
    await journal.append(refusedOf({ workspaceId: newId(), keyId: newId() }));
    await drain.drainNow();
    for (const { workspaceId, keyId } of customers) {
      const sum = spent.get(keyId) ?? 0n;
      expect(await balanceOf(workspaceId)).toBe(1_000_000_000_000n - sum);
      expect((await keyOf(keyId)).spent_nano).toBe(`${sum}`);
      const hours = await row(
        'SELECT sum(calls)::int AS calls, sum(cost_nano)::text AS cost FROM usage_quarter WHERE key_id = $1',
        [keyId],
      );
      expect(hours).toEqual({ calls: 2500, cost: `${sum}` });
    }
    expect(posted).toHaveLength(10_000);
    await expectSound();
    await drain.stop();
    await journal.close();
  });

  it('changes nothing when the same entries are settled ten times, in any grouping, by racing processes', async () => {
    const customer = await createCustomer(pool);
    const calls = Array.from({ length: 60 }, (_, count) => callOf(customer, { costNano: BigInt(count) }));
    const entries = calls.map((call) => closeOf(call));
    const repeats = Array.from({ length: 10 }, (_, times) => {
      const turned = [...entries.slice(times * 6), ...entries.slice(0, times * 6)];
      return settle(pool, newId(), [...turned, ...turned.slice(0, 5)]);
    });
    await Promise.all(repeats);
    expect(await balanceOf(customer.workspaceId)).toBe(1_000_000_000_000n - 1770n);
    expect((await keyOf(customer.keyId)).spent_nano).toBe('1770');
    await expectSound();
  });

  it('sets the flag of a key whose spend reaches its quota, once, with an audit row and a change', async () => {
    const customer = await createCustomer(pool, { quotaNano: 100n });
    const free = newId();
    await addKey(pool, customer.workspaceId, free, null);
    const { journal, drain } = createSettler();
    await journal.append(closeOf(callOf(customer, { costNano: 99n })));
    await drain.drainNow();
    expect((await keyOf(customer.keyId)).quota_exhausted).toBe(false);
    await journal.append(closeOf(callOf(customer, { costNano: 1n })));
    await journal.append(closeOf(callOf({ ...customer, keyId: free }, { costNano: 5000n })));
    await drain.drainNow();
    await journal.append(closeOf(callOf(customer, { costNano: 1n })));
    await drain.drainNow();
    expect((await keyOf(customer.keyId)).quota_exhausted).toBe(true);
    expect((await keyOf(free)).quota_exhausted).toBe(false);
    const audits = await pool.query('SELECT workspace_id, actor, action FROM audit WHERE subject = $1', [
      customer.keyId,
    ]);
    expect(audits.rows).toEqual([
      { workspace_id: customer.workspaceId, actor: 'settlement', action: 'key.exhaust' },
    ]);
    const changes = await pool.query('SELECT kind FROM change WHERE subject = $1', [customer.keyId]);
    expect(changes.rows).toEqual([{ kind: 'key' }]);
    await drain.stop();
    await journal.close();
  });

  it('takes the charge out of the leases that paid for it, never below zero, and removes hold rows', async () => {
    const customer = await createCustomer(pool);
    const { journal, drain } = createSettler();
    const owner = journal.ownerId;
    await pool.query(
      `INSERT INTO owner (id, machine, pid, expires_at) VALUES ($1, 'm', 1, now() + interval '1 hour')`,
      [owner],
    );
    const lease = 'INSERT INTO lease (owner_id, kind, subject_id, granted_nano) VALUES ($1, $2, $3, $4)';
    await pool.query(lease, [owner, 'workspace', customer.workspaceId, 500]);
    await pool.query(lease, [owner, 'key', customer.keyId, 30]);
    const [leased, rowed] = [callOf(customer, { costNano: 40n }), callOf(customer, { costNano: 7n })];
    await pool.query(
      'INSERT INTO hold (call_id, owner_id, workspace_id, key_id, amount_nano, admitted_at) VALUES ($1, $2, $3, $4, 10, now())',
      [rowed.id, owner, customer.workspaceId, customer.keyId],
    );
    await Promise.all([journal.append(closeOf(leased)), journal.append(closeOf(rowed, 'row'))]);
    await drain.drainNow();
    const left = await pool.query('SELECT kind, granted_nano FROM lease WHERE owner_id = $1 ORDER BY kind', [
      owner,
    ]);
    expect(left.rows).toEqual([
      { kind: 'key', granted_nano: '0' },
      { kind: 'workspace', granted_nano: '460' },
    ]);
    expect((await pool.query('SELECT 1 FROM hold WHERE call_id = $1', [rowed.id])).rowCount).toBe(0);
    await drain.stop();
    await journal.close();
  });

  it('sets aside what the database refuses, names it, and settles all others', async () => {
    const customer = await createCustomer(pool);
    const { journal, drain, reports, posted } = createSettler();
    const good = Array.from({ length: 30 }, () => callOf(customer, { costNano: 10n }));
    const unknown = callOf({ workspaceId: newId(), keyId: newId() }, { costNano: 10n });
    const odd = callOf({ ...customer, keyId: 'not-a-key' });
    const timeless = callOf(customer, { atMs: Number.NaN });
    // More than a row of an index takes, and in characters that nothing makes shorter.
    const endless = callOf(customer, { answeringModel: randomBytes(2_000).toString('utf16le') });
    const bad = [odd, timeless, endless];
    const calls = [...good.slice(0, 11), unknown, ...good.slice(11, 20), ...bad, ...good.slice(20)];
    await Promise.all(calls.map((call) => journal.append(closeOf(call))));
    await drain.drainNow();
    expect(await balanceOf(customer.workspaceId)).toBe(1_000_000_000_000n - 300n);
    expect(reports.map((report) => report.callId)).toEqual([unknown, ...bad].map((call) => call.id));
    expect(posted).toHaveLength(30);
    expect(journal.backlog).toBe(0);
    await drain.stop();
    await journal.close();
  });

  it('settles all others though what the database refuses cannot be set aside, and keeps it until it can', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    const { journal, drain, posted } = createSettler({ dir });
    const [first, second] = [callOf(customer), callOf(customer)];
    const orphan = callOf({ workspaceId: newId(), keyId: newId() });
    for (const call of [first, orphan, second]) await journal.append(closeOf(call));
    const rejected = join(dir, `${journal.ownerId}.rejected`);
    mkdirSync(rejected);
    await expect(drain.drainNow()).rejects.toThrow('EISDIR');
    expect(posted.map((one) => one.callId)).toEqual([first.id, second.id]);
    expect(journal.backlog).toBe(3);
    rmdirSync(rejected);
    await drain.drainNow();
    expect(journal.backlog).toBe(0);
    const kept = listLeftovers(dir, new Set()).flatMap((left) => [...left.entries(() => {}, 0)]);
    expect(kept.map(({ entry }) => entry.callId)).toContain(orphan.id);
    expect(await balanceOf(customer.workspaceId)).toBe(1_000_000_000_000n - 40n);
    await expectSound();
    await journal.close();
  });

  it('stores what strangers send: NUL, half surrogates, endless names, figures beyond belief', async () => {
    const customer = await createCustomer(pool);
    const { journal, drain, reports } = createSettler();
    const call = callOf(customer, {
      requestedModel: `a\u0000b${'x'.repeat(5000)}`,
      answeringModel: null,
      userAgent: 'half \ud800',
      latencyMs: 1e12,
      usage: { ...callOf(customer).usage, input: 1e300, output: Number.MAX_SAFE_INTEGER },
      lines: [{ class: 'input:\u0000', quantity: 20, unitPriceNano: 1_000_000n }],
    });
    await journal.append(closeOf(call));
    await drain.drainNow();
    expect(reports).toEqual([]);
    const logged = await row('SELECT * FROM call WHERE id = $1', [call.id]);
    expect(logged.usage).toMatchObject({ input: 1e300 });
    await expectSound();
    await drain.stop();
    await journal.close();
  });

  it('keeps everything while the database is away and posts it when it is back', async () => {
    const customer = await createCustomer(pool);
    const away = new Pool({
      connectionString: 'postgresql://nobody@127.0.0.1:9/none',
      connectionTimeoutMillis: 60_000,
    });
    const dir = newDirectory();
    const { journal, drain } = createSettler({ pool: away, dir });
    await Promise.all(
      Array.from({ length: 5 }, () => journal.append(closeOf(callOf(customer, { costNano: 3n })))),
    );
    await expect(drain.drainNow()).rejects.toThrow('ECONNREFUSED');
    await expect(drain.drainNow()).rejects.toThrow('ECONNREFUSED');
    expect(journal.backlog).toBe(5);
    await drain.stop();
    const back = startDrain({
      pool,
      journal,
      onPosted: () => {},
      report: () => {},
      schedule: () => () => {},
    });
    await back.drainNow();
    expect(await balanceOf(customer.workspaceId)).toBe(1_000_000_000_000n - 15n);
    await back.stop();
    await journal.close();
    await away.end();
  });

  it('pauses longer after each failure, at most 5 s, and as before after a success', async () => {
    const away = new Pool({
      connectionString: 'postgresql://nobody@127.0.0.1:9/none',
      connectionTimeoutMillis: 60_000,
    });
    const journal = openJournal(newDirectory(), newId(), {
      report: () => {},
      onWritable: () => {},
      onFailure: () => {},
    });
    await journal.append(closeOf(callOf({ workspaceId: newId(), keyId: newId() })));
    const pauses: number[] = [];
    await new Promise<void>((done) => {
      startDrain({
        pool: away,
        journal,
        onPosted: () => {},
        report: () => {},
        schedule: (run, delayMs) => {
          pauses.push(delayMs);
          if (pauses.length === 7) journal.drop(1);
          if (pauses.length === 9) done();
          else setImmediate(run);
          return () => {};
        },
      });
    });
    expect(pauses).toEqual([200, 400, 800, 1600, 3200, 5000, 5000, 200, 200]);
    await journal.close();
    await away.end();
  });

  it('has unknown outcomes asked again: a connection lost at COMMIT neither loses nor doubles', async () => {
    const customer = await createCustomer(pool);
    const { journal, drain } = createSettler();
    const call = callOf(customer, { costNano: 5n });
    await journal.append(closeOf(call));
    // What a lost answer to COMMIT leaves behind: the database has it, the process does not know.
    await settle(pool, journal.ownerId, journal.next(10));
    await drain.drainNow();
    expect(await balanceOf(customer.workspaceId)).toBe(999_999_999_995n);
    expect(journal.backlog).toBe(0);
    await drain.stop();
    await journal.close();
  });
});
