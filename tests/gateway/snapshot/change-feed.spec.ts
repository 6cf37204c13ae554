import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChangeFeed, createChangeFeed } from '#lib/gateway/snapshot/changes';
import { type Change, publish } from '#lib/platform/data/change';
import { type Db, openDb } from '#lib/platform/data/db';
import { createDatabase, type TestDatabase } from '#tests/support/database';

let database: TestDatabase;
let db: Db;
let feeds: ChangeFeed[] = [];

beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url, { max: 20 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(() => {
  feeds = [];
});
afterEach(async () => {
  for (const feed of feeds) await feed.close();
});

/** A feed that polls on demand, with all that it told. */
async function follow(options: { keepMs?: number; db?: Db; mono?: () => number } = {}) {
  const seen: string[] = [];
  const told = { lost: 0, errors: 0, polled: 0 };
  const feed = createChangeFeed({
    pool: (options.db ?? db).pool,
    mono: options.mono ?? (() => performance.now()),
    intervalMs: 3_600_000,
    onChange: (changes) => void seen.push(...changes.map((change) => change.subject)),
    onLost: () => void told.lost++,
    onPolled: () => void told.polled++,
    onError: () => void told.errors++,
    ...(options.keepMs === undefined ? {} : { keepMs: options.keepMs }),
  });
  feeds.push(feed);
  await feed.start();
  return { feed, seen, told };
}

function key(subject: string): Change {
  return { kind: 'key', subject };
}

/** An open transaction that has made its change but not yet published it. */
async function begin() {
  const client = await db.pool.connect();
  await client.query('BEGIN');
  await client.query('SELECT txid_current()');
  return {
    publish: (...changes: Change[]) => publish(client, changes),
    commit: async () => {
      await client.query('COMMIT');
      client.release();
    },
    rollback: async () => {
      await client.query('ROLLBACK');
      client.release();
    },
  };
}

async function change(...subjects: string[]) {
  const tx = await begin();
  await tx.publish(...subjects.map(key));
  await tx.commit();
}

describe('the change feed (contract: durability/change-feed)', () => {
  it('starts at the end of the table and counts what came before as lost', async () => {
    await change('before');
    const { feed, seen, told } = await follow();
    expect(told).toMatchObject({ lost: 1, polled: 1, errors: 0 });
    await change('a', 'b');
    await change('c');
    await feed.poll();
    await feed.poll();
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(told.lost).toBe(1);
  });

  it('misses nothing when the transaction that began first commits last', async () => {
    const { feed, seen } = await follow();
    const slow = await begin();
    const fast = await begin();
    await fast.publish(key('fast'));
    await fast.commit();
    await feed.poll();
    expect(seen).toEqual(['fast']);
    await slow.publish(key('slow'));
    await feed.poll();
    expect(seen).toEqual(['fast']);
    await slow.commit();
    await feed.poll();
    expect(seen).toEqual(['fast', 'slow']);
  });

  it('gives the later position to the later commit, because publishers wait for each other', async () => {
    const { feed, seen } = await follow();
    const first = await begin();
    const second = await begin();
    await first.publish(key('first'));
    let published = false;
    const waiting = second.publish(key('second')).then(() => {
      published = true;
    });
    await feed.poll();
    expect({ published, seen }).toEqual({ published: false, seen: [] });
    await first.commit();
    await waiting;
    await feed.poll();
    expect(seen).toEqual(['first']);
    await second.commit();
    await feed.poll();
    expect(seen).toEqual(['first', 'second']);
  });

  it('skips nothing over a transaction that was rolled back', async () => {
    const { feed, seen, told } = await follow();
    const undone = await begin();
    await undone.publish(key('undone'));
    await undone.rollback();
    await change('kept');
    await feed.poll();
    expect(seen).toEqual(['kept']);
    expect(told.lost).toBe(1);
  });

  it('delivers each change once and in order while 8 writers race with it', async () => {
    const { feed, seen, told } = await follow();
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; i < 25; i++) await change(`${writer}/${i}`);
    });
    const all = Promise.all(writers);
    let running = true;
    void all.then(() => {
      running = false;
    });
    while (running) await feed.poll();
    await feed.poll();
    expect(seen).toHaveLength(200);
    expect(new Set(seen).size).toBe(200);
    for (let writer = 0; writer < 8; writer++) {
      const own = seen.filter((subject) => subject.startsWith(`${writer}/`));
      expect(own).toEqual(Array.from({ length: 25 }, (_, i) => `${writer}/${i}`));
    }
    expect(told.lost).toBe(1);
  });

  it('polls again for callers that ask while a poll runs', async () => {
    const { feed, seen } = await follow();
    const running = feed.poll();
    const committed = change('late');
    await committed;
    await Promise.all([running, feed.poll()]);
    expect(seen).toContain('late');
  });

  it('reads more changes than one page holds', async () => {
    const { feed, seen } = await follow();
    await change(...Array.from({ length: 12_000 }, (_, i) => String(i)));
    await feed.poll();
    expect(seen).toHaveLength(12_000);
  });

  it('says that changes were lost when their rows are gone, and goes on from there', async () => {
    const { feed, seen, told } = await follow();
    await change('gone');
    await change('also read no more');
    await db.pool.query(`DELETE FROM change WHERE subject = 'gone'`);
    await feed.poll();
    expect(told.lost).toBe(2);
    await change('next');
    await feed.poll();
    expect(seen).toEqual(['next']);
    await change('unseen');
    await db.pool.query('DELETE FROM change');
    await feed.poll();
    expect(told.lost).toBe(3);
  });

  it('deletes rows older than it keeps them, once a minute', async () => {
    const times = { now: 0 };
    const { feed } = await follow({ keepMs: 3_600_000, mono: () => times.now });
    await change('old', 'new');
    await db.pool.query(`UPDATE change SET at = now() - interval '61 minutes' WHERE subject = 'old'`);
    await feed.poll();
    expect(await subjects()).toContain('old');
    times.now = 60_000;
    await feed.poll();
    expect(await subjects()).toEqual(expect.arrayContaining(['new']));
    expect(await subjects()).not.toContain('old');
  });

  it('survives an outage, reports only its first error, and delivers what came meanwhile', async () => {
    const away = await createDatabase();
    const own = openDb(away.url);
    const writer = openDb(away.url);
    const { rows } = await writer.pool.query<{ pid: number; name: string }>(
      'SELECT pg_backend_pid() AS pid, current_database() AS name',
    );
    const { pid, name } = rows[0] ?? { pid: 0, name: '' };
    const { feed, seen, told } = await follow({ db: own });
    await db.pool.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await db.pool.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> $2',
      [name, pid],
    );
    expect(await feed.poll()).toBe(false);
    expect(await feed.poll()).toBe(false);
    await publish(writer.pool, [key('meanwhile')]);
    await db.pool.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    expect(await feed.poll()).toBe(true);
    expect(seen).toEqual(['meanwhile']);
    expect(told).toMatchObject({ errors: 1, lost: 1 });
    await feed.close();
    await Promise.all([own.close(), writer.close()]);
    await away.drop();
  });

  it('reads a second after its last read has ended, so that other machines follow a change within 2 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const reads: string[][] = [];
      let since: string[] = [];
      let read = Promise.withResolvers<void>();
      const feed = createChangeFeed({
        pool: db.pool,
        mono: () => 0,
        onLost: () => undefined,
        onChange: (changes) => void since.push(...changes.map((one) => one.subject)),
        onPolled: () => {
          reads.push(since);
          since = [];
          read.resolve();
        },
      });
      feeds.push(feed);
      await feed.start();
      await change('soon');
      read = Promise.withResolvers();
      await vi.advanceTimersByTimeAsync(999);
      expect(reads).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      await read.promise;
      expect(reads.at(-1)).toEqual(['soon']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('delivers again what its reader could not take', async () => {
    const taken: string[] = [];
    let refuse = true;
    const feed = createChangeFeed({
      pool: db.pool,
      mono: () => performance.now(),
      intervalMs: 3_600_000,
      onLost: () => undefined,
      onChange: (changes) => {
        if (refuse) throw new Error('busy');
        taken.push(...changes.map((one) => one.subject));
      },
    });
    feeds.push(feed);
    await feed.start();
    await change('again');
    expect(await feed.poll()).toBe(false);
    refuse = false;
    expect(await feed.poll()).toBe(true);
    expect(taken).toEqual(['again']);
  });
});

async function subjects(): Promise<string[]> {
  const { rows } = await db.pool.query<{ subject: string }>('SELECT subject FROM change');
  return rows.map((row) => row.subject);
}
