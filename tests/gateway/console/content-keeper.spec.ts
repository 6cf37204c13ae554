import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ContentKeeper } from '#lib/gateway/content/keeper';
import { type Db, openDb } from '#lib/platform/data/db';
import { newRowId } from '#lib/platform/data/row-id';
import { createDatabase } from '#tests/support/database';
import { eventually } from '#tests/support/eventually';

let db: Db;
let close: () => Promise<void>;
beforeAll(async () => {
  const database = await createDatabase();
  db = openDb(database.url, { onError: () => {} });
  close = async () => {
    await db.close();
    await database.drop();
  };
});
afterAll(() => close());

const facts = () => ({
  callId: newRowId(),
  workspaceId: newRowId(),
  keyId: newRowId(),
  atMs: Date.now(),
  keepUntilMs: Date.now() + 60_000,
});
const rows = async () => Number((await db.pool.query('SELECT count(*) FROM call_content')).rows[0].count);

it('loses only what finds no room while the database takes nothing, and keeps the rest later (contract: content/beside)', async () => {
  const told: unknown[] = [];
  const keeper = new ContentKeeper(db.pool, randomBytes(32), (error) => told.push(error), 10_000);
  const keepOne = () => keeper.keep(keeper.copyOf('', Buffer.alloc(1_000, 'a')), facts());
  await db.pool.query('ALTER TABLE call_content RENAME TO away');
  for (let calls = 0; calls < 15; calls += 1) keepOne();
  await eventually(() => told.length, 1);
  expect(keeper.counts()).toEqual({ kept: 0, lost: 5 });
  await db.pool.query('ALTER TABLE away RENAME TO call_content');
  await eventually(() => keeper.counts().kept, 10);
  expect(await rows()).toBe(10);
  // All room is free again.
  for (let calls = 0; calls < 10; calls += 1) keepOne();
  await eventually(() => keeper.counts().kept, 20);
  expect(keeper.counts().lost).toBe(5);
  await keeper.stop();
});

it('writes what waits when it stops, and keeps nothing afterwards (contract: content/beside)', async () => {
  const before = await rows();
  const keeper = new ContentKeeper(db.pool, randomBytes(32), () => {});
  for (let calls = 0; calls < 100; calls += 1) keeper.keep(keeper.copyOf('', Buffer.from('{}')), facts());
  await keeper.stop();
  expect(await rows()).toBe(before + 100);
  keeper.keep(keeper.copyOf('', Buffer.from('{}')), facts());
  expect(keeper.counts()).toEqual({ kept: 100, lost: 1 });
});
