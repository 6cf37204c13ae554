import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { dropPartitions, makePartitions } from '#lib/control/retention/partitions';
import { openJournal } from '#lib/gateway/settlement/journal/journal';
import type { Entry } from '#lib/gateway/settlement/pure/entry';
import { recordOf } from '#lib/gateway/settlement/record/frame';
import { recover } from '#lib/gateway/settlement/recover';
import { countSetAside, listSetAside } from '#lib/gateway/settlement/set-aside';
import { settle } from '#lib/gateway/settlement/settle';
import { createIds } from '#lib/platform/ids';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import {
  type Customer,
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
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** What a process that was killed leaves: its journal, and its rows in the database. */
async function leaveBehind(dir: string, entries: readonly Entry[]): Promise<string> {
  const ownerId = newId();
  const journal = openJournal(dir, ownerId, {
    report: () => {},
    onWritable: () => {},
    onFailure: (error) => {
      throw error;
    },
  });
  await Promise.all(entries.map((entry) => journal.append(entry)));
  await pool.query(
    `INSERT INTO owner (id, machine, pid, expires_at) VALUES ($1, 'm', 1, now() + interval '1 hour')`,
    [ownerId],
  );
  return ownerId;
}

function recoverFrom(dir: string, given: { nowMs?: number; alive?: Set<string> } = {}) {
  const reports: string[] = [];
  const recovered = recover({
    pool,
    dir,
    nowMs: given.nowMs ?? Date.now(),
    ...(given.alive ? { alive: given.alive } : {}),
    report: (error) => reports.push(error.message),
  });
  return recovered.then((recovery) => ({ ...recovery, reports }));
}

async function callRow(id: string): Promise<Record<string, unknown>> {
  return (await pool.query('SELECT * FROM call WHERE id = $1', [id])).rows[0] ?? {};
}

async function spentBy(customer: Customer): Promise<bigint> {
  const found = await pool.query('SELECT balance_nano FROM workspace WHERE id = $1', [customer.workspaceId]);
  return 1_000_000_000_000n - BigInt(found.rows[0]?.balance_nano);
}

async function expectSound(): Promise<void> {
  expect((await verifyLedger({ pool })).checks.filter((check) => check.rows.length > 0)).toEqual([]);
}

describe('recovery after a kill (contract: durability/recovery, money/interrupted)', () => {
  it('posts ended calls, and ends open ones at their last checkpoint, never above their hold', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    const ended = callOf(customer, { costNano: 11n });
    const silent = callOf(customer, { costNano: 500n, holdNano: 1000n });
    const seen = callOf(customer, { costNano: 300n, holdNano: 1000n });
    const excess = callOf(customer, { costNano: 1300n, holdNano: 1000n });
    const refused = refusedOf(customer);
    const ownerId = await leaveBehind(dir, [
      openOf(ended),
      openOf(silent),
      openOf(seen),
      openOf(excess),
      { kind: 'checkpoint', callId: seen.id, call: { ...seen, costNano: 1n } },
      { kind: 'checkpoint', callId: seen.id, call: seen },
      { kind: 'checkpoint', callId: excess.id, call: excess },
      closeOf(ended),
      refused,
    ]);
    await pool.query(
      `INSERT INTO lease (owner_id, kind, subject_id, granted_nano) VALUES ($1, 'workspace', $2, 5)`,
      [ownerId, customer.workspaceId],
    );
    await pool.query(
      `INSERT INTO hold (call_id, owner_id, workspace_id, key_id, amount_nano, admitted_at) VALUES ($1, $2, $3, $4, 5, now())`,
      [silent.id, ownerId, customer.workspaceId, customer.keyId],
    );

    const { owners, settled, interrupted } = await recoverFrom(dir);
    expect({ owners, settled, interrupted }).toEqual({ owners: [ownerId], settled: 2, interrupted: 3 });
    expect(await callRow(ended.id)).toMatchObject({ end_reason: 'completed', cost_nano: '11' });
    expect(await callRow(silent.id)).toMatchObject({
      end_reason: 'interrupted',
      status: 500,
      cost_nano: '0',
      usage_source: 'none',
    });
    expect(await callRow(seen.id)).toMatchObject({
      end_reason: 'interrupted',
      status: 200,
      cost_nano: '300',
    });
    expect(await callRow(excess.id)).toMatchObject({ cost_nano: '1000', over_hold_nano: '0' });
    expect(await callRow(refused.callId)).toMatchObject({ end_reason: 'refused' });
    expect(await spentBy(customer)).toBe(1311n);
    const rows = await pool.query(
      'SELECT 1 FROM owner WHERE id = $1 UNION ALL SELECT 1 FROM lease WHERE owner_id = $1 UNION ALL SELECT 1 FROM hold WHERE owner_id = $1',
      [ownerId],
    );
    expect(rows.rowCount).toBe(0);
    expect(readdirSync(dir)).toEqual([]);
    await expectSound();
  });

  it('charges a checkpoint against the hold as it had grown', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    const call = callOf(customer, { costNano: 1500n, holdNano: 1000n });
    const grown = { ...call, holdNano: 2000n };
    await leaveBehind(dir, [openOf(call), { kind: 'checkpoint', callId: call.id, call: grown }]);
    await recoverFrom(dir);
    expect(await callRow(call.id)).toMatchObject({ cost_nano: '1500', hold_nano: '2000' });
    await expectSound();
  });

  it('posts nothing twice when it was itself killed before the files were gone, or half-way', async () => {
    const customer = await createCustomer(pool);
    const [dir, again, half] = [newDirectory(), newDirectory(), newDirectory()];
    const ended = Array.from({ length: 20 }, () => callOf(customer, { costNano: 10n }));
    const open = callOf(customer, { costNano: 7n });
    await leaveBehind(dir, [
      openOf(open),
      { kind: 'checkpoint', callId: open.id, call: open },
      ...ended.map((call) => closeOf(call)),
    ]);
    cpSync(dir, again, { recursive: true });
    cpSync(dir, half, { recursive: true });
    await settle(
      pool,
      newId(),
      ended.slice(0, 9).map((call) => closeOf(call)),
    );
    await recoverFrom(dir);
    await recoverFrom(again);
    await recoverFrom(half);
    await recoverFrom(half);
    expect(await spentBy(customer)).toBe(207n);
    await expectSound();
  });

  it('does not touch the journals of living processes', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    const open = callOf(customer);
    const ownerId = await leaveBehind(dir, [openOf(open)]);
    const recovery = await recoverFrom(dir, { alive: new Set([ownerId]) });
    expect(recovery.owners).toEqual([]);
    expect(await callRow(open.id)).toEqual({});
    expect(readdirSync(dir)).toHaveLength(1);
  });

  it('lists the calls admitted in the last minute, with the estimate if no usage was metered', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    const nowMs = Date.now();
    const old = callOf(customer, { atMs: nowMs - 61_000 });
    const recent = callOf(customer, { atMs: nowMs - 30_000, costNano: 20n });
    const running = callOf(customer, { atMs: nowMs - 1000 });
    const refused = refusedOf(customer);
    await leaveBehind(dir, [closeOf(old), closeOf(recent), openOf(running), refused]);
    const found = (await recoverFrom(dir, { nowMs })).recent.filter((one) => one.keyId === customer.keyId);
    expect(found).toEqual([
      { callId: recent.id, ...customer, atMs: nowMs - 30_000, tokens: 23 },
      { callId: running.id, ...customer, atMs: nowMs - 1000, tokens: 50 },
    ]);
  });

  it('does not take calls for recent that a clock dated ahead, and dates those of the next minute now', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    const nowMs = Date.now();
    const tomorrow = callOf(customer, { atMs: nowMs + 86_400_000 });
    const soon = callOf(customer, { atMs: nowMs + 5_000, costNano: 20n });
    await leaveBehind(dir, [closeOf(tomorrow), closeOf(soon)]);
    const found = (await recoverFrom(dir, { nowMs })).recent.filter((one) => one.keyId === customer.keyId);
    expect(found).toEqual([{ callId: soon.id, ...customer, atMs: nowMs, tokens: 23 }]);
  });

  it('posts calls that are older than the log goes back once, whether their week was dropped or never made', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    await makePartitions(pool, Date.now());
    const oldMs = Date.now() - 200 * 86_400_000;
    const ids = createIds({ now: () => oldMs, mono: () => 0 });
    const old = (costNano = 10n) => callOf(customer, { id: ids.newId() ?? '', atMs: oldMs, costNano });
    const [posted, unposted, open, free] = [old(), old(), old(), old(0n)];
    const ownerId = await leaveBehind(dir, [
      openOf(posted),
      closeOf(posted),
      openOf(unposted),
      closeOf(unposted),
      openOf(open),
      closeOf(free),
    ]);
    await settle(pool, ownerId, [closeOf(posted), closeOf(free)]);
    await dropPartitions(pool, Date.now(), 90);
    expect(await callRow(posted.id)).toEqual({});
    const first = await recoverFrom(dir);
    expect(first.reports).toEqual([]);
    expect(await spentBy(customer)).toBe(20n);
    expect(readdirSync(dir)).toEqual([]);
    expect(await callRow(unposted.id)).toMatchObject({ cost_nano: '10' });
    expect(await callRow(open.id)).toMatchObject({ end_reason: 'interrupted' });
    await expectSound();
    await dropPartitions(pool, Date.now(), 90);
    await expectSound();
  });

  it('ends the calls of two dead owners, each by its own journal', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    const calls = Array.from({ length: 4 }, () => callOf(customer, { costNano: 10n }));
    const [a, b, c, d] = calls;
    if (!a || !b || !c || !d) throw new Error('four calls were expected');
    const first = await leaveBehind(dir, [openOf(a), closeOf(a), openOf(b)]);
    const second = await leaveBehind(dir, [openOf(c), closeOf(c), openOf(d)]);
    const found = await recoverFrom(dir);
    expect(found).toMatchObject({ settled: 2, interrupted: 2, reports: [] });
    expect([...found.owners].sort()).toEqual([first, second].sort());
    expect(await spentBy(customer)).toBe(20n);
    expect(readdirSync(dir)).toEqual([]);
    await expectSound();
  });

  it('reports a record of another version and keeps it for the next start, and posts the records around it', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    const call = callOf(customer, { costNano: 10n });
    await leaveBehind(dir, [openOf(call), closeOf(call)]);
    const [file = ''] = readdirSync(dir);
    const other = recordOf({
      head: '[1,"close","an-id","lease"]',
      row: { bytes: Buffer.from('{}'), start: 0, end: 2 },
    });
    writeFileSync(join(dir, file), Buffer.concat([other, readFileSync(join(dir, file))]));
    for (const start of [1, 2]) {
      const { reports } = await recoverFrom(dir);
      expect(reports, `start ${start}`).toEqual([expect.stringContaining('journal record of version 1')]);
      const [kept = '', ...more] = readdirSync(dir);
      expect(more).toEqual([]);
      expect(kept).toBe(file.replace('-1.log', '.rejected'));
      expect(readFileSync(join(dir, kept))).toEqual(other);
      expect(await spentBy(customer)).toBe(10n);
    }
    expect(countSetAside(dir)).toEqual({ damaged: 0, rejected: 1 });
  });

  it('drops a torn last record in silence', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    const calls = Array.from({ length: 3 }, () => callOf(customer, { costNano: 10n }));
    await leaveBehind(
      dir,
      calls.map((call) => closeOf(call)),
    );
    const file = join(dir, readdirSync(dir)[0] ?? '');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, bytes.length - 1));
    expect((await recoverFrom(dir)).reports).toEqual([]);
    expect(await spentBy(customer)).toBe(20n);
    expect(countSetAside(dir)).toEqual({ damaged: 0, rejected: 0 });
  });

  it('sets damaged records aside, posts all others, and ends a call whose end was damaged as interrupted (contract: durability/damaged-record)', async () => {
    const customer = await createCustomer(pool);
    const [dir, again] = [newDirectory(), newDirectory()];
    const calls = Array.from({ length: 4 }, () => callOf(customer, { costNano: 10n }));
    const [, struck] = calls;
    if (!struck) throw new Error('four calls were expected');
    const ownerId = await leaveBehind(dir, [
      openOf(struck),
      { kind: 'checkpoint', callId: struck.id, call: callOf(customer, { id: struck.id, costNano: 4n }) },
      ...calls.map((call) => closeOf(call)),
    ]);
    const file = join(dir, readdirSync(dir)[0] ?? '');
    const bytes = readFileSync(file);
    const at = bytes.lastIndexOf(struck.id);
    bytes[at + 50] = (bytes[at + 50] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    cpSync(dir, again, { recursive: true });

    const { reports, settled, interrupted } = await recoverFrom(dir);
    expect({ settled, interrupted }).toEqual({ settled: 3, interrupted: 1 });
    expect(reports).toEqual([expect.stringContaining(`damaged (call ${struck.id})`)]);
    expect(await spentBy(customer)).toBe(34n);
    expect(await callRow(struck.id)).toMatchObject({ end_reason: 'interrupted', cost_nano: '4' });
    expect(readdirSync(dir)).toEqual([`${ownerId}.damaged`]);
    expect(statSync(join(dir, `${ownerId}.damaged`)).mode & 0o777).toBe(0o600);
    const damage = { kind: 'damaged', file: `${ownerId}.damaged`, callId: struck.id, record: 'close' };
    expect(listSetAside(dir)).toEqual([damage]);
    expect(await recoverFrom(dir)).toMatchObject({ owners: [], reports: [] });
    await expectSound();

    // Killed after the bytes were set aside and before the file was gone.
    cpSync(join(dir, `${ownerId}.damaged`), join(again, `${ownerId}.damaged`));
    await recoverFrom(again);
    expect(listSetAside(again)).toEqual([damage]);
    expect(readdirSync(again)).toEqual([`${ownerId}.damaged`]);
    expect(await spentBy(customer)).toBe(34n);
  });

  it('keeps what the database rejects for the next start, and posts it once it is accepted', async () => {
    const customer = { workspaceId: newId(), keyId: newId() };
    const dir = newDirectory();
    const orphan = callOf(customer, { costNano: 10n });
    await leaveBehind(dir, [openOf(orphan), closeOf(orphan)]);
    expect((await recoverFrom(dir)).reports).toHaveLength(1);
    expect(readdirSync(dir)).toEqual([expect.stringMatching(/\.rejected$/)]);
    await pool.query(`INSERT INTO workspace (id, slug, name) VALUES ($1, 'late', 'late')`, [
      customer.workspaceId,
    ]);
    expect((await recoverFrom(dir)).reports).toEqual([]);
    expect(readdirSync(dir)).toEqual([]);
    const ledger = await pool.query('SELECT amount_nano FROM ledger_line WHERE workspace_id = $1', [
      customer.workspaceId,
    ]);
    expect(ledger.rows).toEqual([{ amount_nano: '-10' }]);
    await expectSound();
  });

  it('loses no acknowledged call and doubles none when a process is killed at any moment', async () => {
    const customer = await createCustomer(pool);
    const dir = newDirectory();
    const program = fileURLToPath(new URL('../../support/settlement-process.ts', import.meta.url));
    const charges = new Map<string, bigint>();
    const opened = new Set<string>();
    for (const linesBeforeKill of [40, 150, 400, 1000, 2500]) {
      const child = spawn(
        process.execPath,
        [program, database.url, dir, customer.workspaceId, customer.keyId],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += chunk;
        if (text.split('\n').length > linesBeforeKill) child.kill('SIGKILL');
      });
      await once(child, 'close');
      // A line cut by the kill is no acknowledgement.
      for (const line of text.split('\n').slice(0, -1)) {
        const [kind, id = '', cost = '0'] = line.split(' ');
        if (kind === 'close') charges.set(id, BigInt(cost));
        else opened.add(id);
      }
      await recoverFrom(dir);
    }
    expect(charges.size).toBeGreaterThan(1000);
    const logged = await pool.query('SELECT id, cost_nano, end_reason FROM call WHERE key_id = $1', [
      customer.keyId,
    ]);
    const byId = new Map(logged.rows.map((row) => [row.id, row]));
    for (const [id, cost] of charges) expect(byId.get(id)?.cost_nano).toBe(`${cost}`);
    for (const id of opened) expect(byId.has(id)).toBe(true);
    const sum = logged.rows.reduce((total, row) => total + BigInt(row.cost_nano), 0n);
    expect(await spentBy(customer)).toBe(sum);
    expect(existsSync(dir) && readdirSync(dir)).toEqual([]);
    await expectSound();
  });
});
