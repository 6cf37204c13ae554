import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { createChangeFeed } from '#lib/gateway/snapshot/changes';
import { loadKey } from '#lib/gateway/snapshot/load';
import { createKeyReader } from '#lib/gateway/snapshot/read';
import { systemClock } from '#lib/platform/clock';
import { type Db, openDb } from '#lib/platform/data/db';
import { hashKey, makeKey } from '#lib/platform/secrets';
import {
  createKey,
  createWorkspace,
  disableKey,
  enableKey,
  revokeKey,
  rotateKey,
  setKey,
  setWorkspace,
} from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';

const pepper = 'pepper';
let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** A gateway process as far as keys go: the reader behind the feed, on connections of its own. */
async function startNode() {
  const own = openDb(database.url);
  const hash = (secret: string) => hashKey(secret, pepper);
  const keys = createKeyReader({ clock: systemClock, hash, load: (digest) => loadKey(own.pool, digest) });
  const feed = createChangeFeed({
    pool: own.pool,
    mono: systemClock.mono,
    onLost: () => keys.forget('all'),
    onPolled: keys.confirm,
    onChange: (changes) => {
      for (const { kind, subject } of changes) {
        if (kind === 'key') keys.forget({ key: subject });
        else if (kind === 'workspace' || kind === 'policy') keys.forget({ workspace: subject });
      }
    },
  });
  await feed.start();
  async function see(secret: string): Promise<string> {
    const answer = await keys.read(secret);
    if (isRefusal(answer)) return answer.code;
    return `${answer.key.status} ${answer.key.limits.rpm} ${answer.workspace.limits.rpm}`;
  }
  return { feed, see, close: () => Promise.all([feed.close(), own.close()]) };
}

describe('a change made elsewhere', () => {
  it('is in force after the next poll: limits, states, rotation and revocation', async () => {
    const node = await startNode();
    const { slug } = await createWorkspace(db, { name: 'Force' });
    const { id, key } = await createKey(db, { workspace: slug, name: 'k' }, pepper);
    await node.feed.poll();
    expect(await node.see(key)).toBe('active null 600');
    const steps: [() => Promise<unknown>, string][] = [
      [() => setKey(db, { id, rpm: 7 }), 'active 7 600'],
      [() => setWorkspace(db, { workspace: slug, rpm: 8 }), 'active 7 8'],
      [() => disableKey(db, { id }), 'inactive 7 8'],
      [() => enableKey(db, { id }), 'active 7 8'],
    ];
    for (const [change, expected] of steps) {
      await change();
      await node.feed.poll();
      expect(await node.see(key)).toBe(expected);
    }
    const rotated = await rotateKey(db, { id }, pepper);
    await node.feed.poll();
    expect(await node.see(key)).toBe('invalid_api_key');
    expect(await node.see(rotated.key)).toBe('active 7 8');
    await revokeKey(db, { id });
    await node.feed.poll();
    expect(await node.see(rotated.key)).toBe('invalid_api_key');
    await node.close();
  });

  it('is in force without anyone saying so', async () => {
    const node = await startNode();
    const { slug } = await createWorkspace(db, { name: 'Timer' });
    const { id, key } = await createKey(db, { workspace: slug, name: 'k' }, pepper);
    expect(await node.see(key)).toBe('active null 600');
    await revokeKey(db, { id });
    await expect.poll(() => node.see(key), { interval: 20 }).toBe('invalid_api_key');
    await node.close();
  });

  it('forgets that a key was unknown when it is created', async () => {
    const node = await startNode();
    const { slug } = await createWorkspace(db, { name: 'Unknown' });
    const secret = makeKey();
    expect(await node.see(secret)).toBe('invalid_api_key');
    const { id } = await createKey(db, { workspace: slug, name: 'k' }, pepper);
    await db.pool.query('UPDATE api_key SET hash = $2 WHERE id = $1', [id, hashKey(secret, pepper)]);
    await node.feed.poll();
    expect(await node.see(secret)).toBe('active null 600');
    await node.close();
  });

  it('never leaves a stale key in memory while reads and changes race', async () => {
    const node = await startNode();
    const { slug } = await createWorkspace(db, { name: 'Race' });
    const { id, key } = await createKey(db, { workspace: slug, name: 'k' }, pepper);
    let racing = true;
    const reads = (async () => {
      while (racing) await Promise.all([node.see(key), node.feed.poll()]);
    })();
    for (let rpm = 1; rpm <= 30; rpm++) {
      await setKey(db, { id, rpm });
      if (rpm % 3 === 0) {
        await node.feed.poll();
        expect(await node.see(key)).toBe(`active ${rpm} 600`);
      }
    }
    racing = false;
    await reads;
    await node.close();
  });
});
