import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFileRoom } from '#lib/gateway/resources/database/file-room';
import { type Db, openDb } from '#lib/platform/data/db';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { createCustomer } from '#tests/support/settlement';

describe('the room of a workspace for files (contract: batches/room)', () => {
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

  /** Two processes take room for uploads at the same time. */
  async function takeAtOnce(most: { readonly files: number; readonly bytes: number }, bytes: number) {
    const { workspaceId } = await createCustomer(db.pool);
    const rooms = [openFileRoom(db.pool, most), openFileRoom(db.pool, most)] as const;
    const uploads = Array.from({ length: 12 }, (_, at) => ({ callId: randomUUID(), room: rooms[at % 2] }));
    const taken = await Promise.all(
      uploads.map(async ({ callId, room }) => ({
        callId,
        full: await room?.take({ callId, workspaceId, bytes }),
      })),
    );
    return { workspaceId, room: rooms[0], taken };
  }

  it.each([
    ['files', { files: 5, bytes: 1_000_000 }],
    ['bytes', { files: 1_000, bytes: 549 }],
  ] as const)('uploads at the same time cannot exceed the limit of %s together', async (limit, most) => {
    const { taken } = await takeAtOnce(most, 100);
    expect(taken.filter(({ full }) => full === null)).toHaveLength(5);
    expect(taken.filter(({ full }) => full?.limit === limit)).toHaveLength(7);
  });

  it('is not taken by files that their provider has deleted by now', async () => {
    const { workspaceId } = await createCustomer(db.pool);
    const room = openFileRoom(db.pool, { files: 10, bytes: 100 });
    const keep = (expirationTime: string) =>
      db.pool.query(
        `INSERT INTO resource (workspace_id, kind, id, provider_id, family, model_id, upstream_model, call_id, job,
           tokens, created_at, credential, view, viewed_at)
         VALUES ($1, 'file', $2, 'google', 'generate-content', '', '', $3, false, 0, now(), 'default', $4, now())`,
        [workspaceId, randomUUID(), randomUUID(), JSON.stringify({ sizeBytes: '60', expirationTime })],
      );
    const take = () => room.take({ callId: randomUUID(), workspaceId, bytes: 50 });
    await keep(new Date(Date.now() - 60_000).toISOString());
    expect(await take()).toBeNull();
    await keep(new Date(Date.now() + 3_600_000).toISOString());
    expect(await take()).toMatchObject({ limit: 'bytes' });
  });

  it('is given back by an upload that stored nothing', async () => {
    const { workspaceId, room, taken } = await takeAtOnce({ files: 1, bytes: 1_000 }, 1);
    const again = () => room.take({ callId: randomUUID(), workspaceId, bytes: 1 });
    expect(await again()).toMatchObject({ limit: 'files', most: 1 });
    await room.leave(taken.find(({ full }) => full === null)?.callId ?? '');
    expect(await again()).toBeNull();
  });
});
