import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChangeFeed } from '#lib/gateway/snapshot/changes';
import { listenForNotices } from '#lib/gateway/snapshot/database/notices';
import { noticeChannel, publish } from '#lib/platform/data/change';
import { type Db, openDb } from '#lib/platform/data/db';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { type TcpProxy, tcpProxy } from '#tests/support/tcp-proxy';

/** `NOTICES=1000 npm test -- notices` is the long run. */
const changes = Number(process.env.NOTICES ?? 60);

let database: TestDatabase;
let db: Db;
let proxy: TcpProxy;
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  const { hostname, port } = new URL(database.url);
  proxy = await tcpProxy({ host: hostname, port: Number(port) });
});
afterAll(async () => {
  await db.close();
  await proxy.close();
  await database.drop();
});

/** A process that follows the feed; it polls by itself every so many ms. */
async function follow(intervalMs: number, url: string | null) {
  const seen = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  const feed = createChangeFeed({
    pool: db.pool,
    mono: () => performance.now(),
    intervalMs,
    onLost: () => undefined,
    onChange: (found) => {
      for (const { subject } of found) {
        seen.set(subject, performance.now());
        waiting.get(subject)?.();
      }
    },
  });
  await feed.start();
  let polled = 0;
  const notices =
    url === null
      ? null
      : listenForNotices(url, () => {
          polled += 1;
          return feed.poll();
        });
  return {
    polled: () => polled,
    heard: (subject: string) =>
      new Promise<number>((resolve) => {
        waiting.set(subject, () => resolve(seen.get(subject) ?? 0));
        const at = seen.get(subject);
        if (at !== undefined) resolve(at);
      }),
    close: async () => {
      await notices?.close();
      await feed.close();
    },
  };
}

/** Commits a change. @returns ms from its commit until the process knew. */
async function change(process: Awaited<ReturnType<typeof follow>>): Promise<number> {
  const subject = randomUUID();
  await publish(db.pool, [{ kind: 'key', subject }]);
  const committed = performance.now();
  return Math.max(0, (await process.heard(subject)) - committed);
}

function spreadOf(all: number[]): string {
  const sorted = all.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(1);
  return `n ${all.length}, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms`;
}

function throughProxy(): string {
  const url = new URL(database.url);
  url.port = String(proxy.port);
  return url.href;
}

describe('a notice of a change (contract: durability/notices)', () => {
  it('reaches a process that would not poll for an hour', async () => {
    const process_ = await follow(3_600_000, database.url);
    await expect.poll(process_.polled).toBeGreaterThan(0);
    const took: number[] = [];
    for (let count = 0; count < changes; count += 1) took.push(await change(process_));
    process.stdout.write(`changes heard by notice: ${spreadOf(took)}\n`);
    await process_.close();
  });

  it('is not needed: the poll each second finds every change', async () => {
    const process_ = await follow(1_000, null);
    const took = await Promise.all(Array.from({ length: changes }, () => change(process_)));
    process.stdout.write(`changes heard by the poll: ${spreadOf(took)}\n`);
    await process_.close();
  });

  it('comes again after the connection was lost, and what was missed is polled', async () => {
    const process_ = await follow(3_600_000, throughProxy());
    await expect.poll(process_.polled).toBe(1);
    await change(process_);
    proxy.cut();
    const missed = randomUUID();
    await publish(db.pool, [{ kind: 'key', subject: missed }]);
    proxy.restore();
    expect(await process_.heard(missed)).toBeGreaterThan(0);
    await change(process_);
    await process_.close();
  });

  it('is not sent by a transaction that was rolled back', async () => {
    const client = await db.pool.connect();
    const other = await follow(3_600_000, database.url);
    await expect.poll(other.polled).toBe(1);
    await client.query('BEGIN');
    await publish(client, [{ kind: 'key', subject: 'never' }]);
    await client.query('ROLLBACK');
    client.release();
    await change(other);
    expect(other.polled()).toBe(2);
    expect(noticeChannel).toMatch(/^[a-z_]+$/);
    await other.close();
  });
});
