import { expect, it } from 'vitest';
import { createMoneyStore } from '#lib/gateway/admission/database/money-in-database';
import { JobStore } from '#lib/gateway/jobs/job-store';
import { openDb } from '#lib/platform/data/db';
import { createDatabase } from '#tests/support/database';
import { newId } from '#tests/support/settlement';
import { tcpProxy } from '#tests/support/tcp-proxy';

/** The server of the tests behind a proxy that can be cut. */
async function behindProxy() {
  const database = await createDatabase();
  const url = new URL(database.url);
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  return { database, proxy, url: url.href };
}

it('a connection that breaks between two statements of a transaction ends that transaction and nothing else', async () => {
  const { database, proxy, url } = await behindProxy();
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', note);
  const db = openDb(url);
  try {
    const client = await db.pool.connect();
    await client.query('BEGIN');
    const ended = new Promise((resolve) => client.once('end', resolve));
    proxy.cut();
    await ended;
    await expect(client.query('COMMIT')).rejects.toThrow();
    client.release(true);
    proxy.restore();
    expect((await db.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(uncaught).toEqual([]);
  } finally {
    process.off('uncaughtException', note);
    await db.close();
    await proxy.close();
    await database.drop();
  }
});

it('connections that fell silent keep neither the heartbeat nor the jobs of a process waiting', async () => {
  const { database, proxy, url } = await behindProxy();
  const db = openDb(url);
  const money = createMoneyStore(db, newId());
  const jobs = new JobStore(db.pool);
  const due = { nowMs: Date.now(), leasedUntilMs: Date.now(), most: 1, busy: [] };
  try {
    await money.register(true);
    proxy.strand();
    await expect(money.beat()).rejects.toThrow('timeout');
    expect(await money.beat()).toBe(true);
    proxy.strand();
    await expect(jobs.takeDue(due)).rejects.toThrow('timeout');
    expect(await jobs.takeDue(due)).toEqual([]);
  } finally {
    await db.close();
    await proxy.close();
    await database.drop();
  }
});

it('the locks of a transaction whose client fell silent are free soon (contract: durability/abandoned-transactions)', async () => {
  const { database, proxy, url } = await behindProxy();
  const silent = openDb(url, { idleInTransactionMs: 200 });
  const other = openDb(database.url);
  const lock = 'SELECT pg_advisory_xact_lock(1)';
  try {
    const client = await silent.pool.connect();
    await client.query(`BEGIN; ${lock}`);
    proxy.strand();
    await other.pool.query(lock);
    client.release(true);
  } finally {
    await silent.close();
    await other.close();
    await proxy.close();
    await database.drop();
  }
});
