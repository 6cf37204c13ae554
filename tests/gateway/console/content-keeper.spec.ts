import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ContentKeeper } from '#lib/gateway/content/keeper';
import { Masking } from '#lib/gateway/content/masks/masking';
import { inDatabase } from '#lib/gateway/content/places';
import { openContent } from '#lib/gateway/content/stored';
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
  const keeper = new ContentKeeper(inDatabase(db.pool), randomBytes(32), (error) => told.push(error), 10_000);
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
  const keeper = new ContentKeeper(inDatabase(db.pool), randomBytes(32), () => {});
  for (let calls = 0; calls < 100; calls += 1) keeper.keep(keeper.copyOf('', Buffer.from('{}')), facts());
  await keeper.stop();
  expect(await rows()).toBe(before + 100);
  keeper.keep(keeper.copyOf('', Buffer.from('{}')), facts());
  expect(keeper.counts()).toEqual({ kept: 100, lost: 1 });
});

it('keeps nothing of what cannot be masked, counts it, and keeps the rest masked (contract: content/masks)', async () => {
  const before = await rows();
  const key = randomBytes(32);
  const keeper = new ContentKeeper(inDatabase(db.pool), key, () => {});
  const keep = (masks: { ready: ['mail']; patterns: string | null }) => {
    const owner = { ...facts(), masks };
    keeper.keep(keeper.copyOf('application/json', Buffer.from('{"to":"bob@example.com"}')), owner);
    return owner;
  };
  keep({ ready: ['mail'], patterns: 'broken: (' });
  const owner = keep({ ready: ['mail'], patterns: null });
  await eventually(() => keeper.counts(), { kept: 1, lost: 1 });
  expect(await rows()).toBe(before + 1);
  const found = await db.pool.query('SELECT sealed FROM call_content WHERE call_id = $1', [owner.callId]);
  const content = await openContent(owner, found.rows[0].sealed, key);
  expect(content.request.text).toBe('{"to":"[masked: mail address]"}');
  await keeper.stop();
});

it('masks for other workspaces while a pattern of one takes too long (contract: content/masks)', async () => {
  const masking = new Masking(1_000);
  const side = (text: string) => ({ contentType: 'application/json', text, cut: false });
  const slow = { ready: [] as [], patterns: 'slow: (.*a){20}$' };
  const task = (masks: { ready: ['mail'] | []; patterns: string | null }, text: string) => ({
    masks,
    request: side(JSON.stringify({ text })),
    answer: side(''),
  });
  const evil = Array.from({ length: 20 }, () => masking.mask('evil', task(slow, 'ba'.repeat(500_000))));
  const other = masking.mask('other', task({ ready: ['mail'], patterns: null }, 'bob@example.com'));
  expect((await other)?.request.text).toBe('{"text":"[masked: mail address]"}');
  // More than 16 MiB of one workspace do not wait.
  expect(await evil.at(-1)).toBeNull();
  await masking.stop();
  expect(new Set(await Promise.all(evil))).toEqual(new Set([null]));
});
