import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { exportContent } from '#lib/control/operations/content/export';
import { deleteContent, showContent } from '#lib/control/operations/content/operations';
import { searchContent } from '#lib/control/operations/content/search';
import type { Mutation, Reach } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import { ask as askOperation } from '#lib/control/operations/run';
import { deleteWorkspace } from '#lib/control/operations/workspace/delete';
import { dropPartitions } from '#lib/control/retention/partitions';
import { type ContentFacts, ContentKeeper } from '#lib/gateway/content/keeper';
import { ObjectStore, type ObjectWriter } from '#lib/gateway/content/objects/object-store';
import { ObjectThread } from '#lib/gateway/content/objects/object-thread';
import { deleteObjects } from '#lib/gateway/content/objects/sweep';
import { type ContentPlace, inDatabase, inObjects } from '#lib/gateway/content/places';
import { type Db, openDb } from '#lib/platform/data/db';
import { newRowId } from '#lib/platform/data/row-id';
import { readEnv } from '#lib/platform/env/env';
import { ask } from '#tests/support/chat-call';
import { type CommandLine, commandLine } from '#tests/support/command';
import { controlHost, findCall } from '#tests/support/control/operate';
import { createDatabase } from '#tests/support/database';
import { eventually } from '#tests/support/eventually';
import { storeKeys } from '#tests/support/object-store/control';
import { type ObjectStoreProcess, startObjectStore } from '#tests/support/object-store/object-store';
import { secrets } from '#tests/support/shared/attach';
import { type OwnStack, startStack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

let store: ObjectStoreProcess;
beforeAll(async () => {
  store = await startObjectStore();
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, store.env[name]);
});
afterAll(() => {
  vi.unstubAllEnvs();
  store.close();
});
beforeEach(() => store.set());

const settings = () => readEnv({ ...secrets, ...store.env }).contentStore;
const keys = async () => [...(await store.objects()).keys()].filter((key) => !key.endsWith('gateway-check'));
/** As if what is there had been written an hour ago. */
const passAnHour = (db: Db) =>
  db.pool.query(`UPDATE content_object SET delete_after = delete_after - interval '61 minutes'`);

describe('kept content in a store that speaks S3 (contract: content/store)', () => {
  let stack: OwnStack;
  let line: CommandLine;
  beforeAll(async () => {
    stack = await startStack({ env: { ...store.env, METRICS_TOKEN: 'm' } });
    line = commandLine(stack.databaseUrl, store.env);
  });
  afterAll(async () => {
    line.close();
    await stack.close();
  });

  const operator = { kind: 'operator', name: 'test', address: null } as const;
  const operate = <F extends Fields, Out, R extends Reach>(
    operation: Mutation<F, Out, R>,
    { workspace, ...input }: { workspace: string } & Record<string, unknown>,
  ) => {
    const sealingKey = Buffer.from(secrets.ENCRYPTION_KEY, 'hex');
    const host = { ...controlHost(stack.db), sealingKey, objects: new ObjectStore(settings()) };
    return askOperation(host, operation, { actor: operator, workspace, input });
  };
  const open = async (content: Record<string, unknown> = { content: 'all' }) => {
    const { id, slug } = await stack.workspace(content);
    const { key, id: keyId } = await stack.key(slug);
    return { id, slug, key, keyId };
  };
  const call = async (key: string, text = 'Say hello') => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: text }] });
    const answer = await ask(stack.url, 'POST', '/v1/chat/completions', headers, body);
    expect(answer.status).toBe(200);
    return { id: headerOf(answer, 'x-request-id') ?? '', body };
  };
  const kept = (id: string) =>
    eventually(async () => (await findCall(stack.db, id))?.contentUntil !== null, true);
  const sweep = () => deleteObjects(stack.db.pool, new ObjectStore(settings()), () => false);
  const metric = async (name: string) => {
    const headers = { authorization: 'Bearer m' };
    const text = await (await fetch(`${stack.url}/api/metrics`, { headers })).text();
    return Number(text.match(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm'))?.[1]);
  };

  it('is shown, searched and exported as from the database, and neither store nor database has plain text', async () => {
    const { id: workspaceId, slug, key } = await open();
    const canary = `canary-${randomUUID()}`;
    const { id, body } = await call(key, `Say ${canary}`);
    await stack.call(id);
    await kept(id);
    // From before the store was set.
    const inRow = await call(key, `Say old-${canary}`);
    await stack.call(inRow.id);
    await kept(inRow.id);
    await stack.db.pool.query(`UPDATE call_content SET sealed = $2 WHERE call_id = $1`, [
      inRow.id,
      (await store.objects()).get(`of/gateway/${workspaceId}/${inRow.id}`),
    ]);
    await stack.db.pool.query('UPDATE content_object SET call_id = NULL WHERE call_id = $1', [inRow.id]);

    expect((await operate(showContent, { workspace: slug, id })).request.text).toBe(body);
    expect((await operate(showContent, { workspace: slug, id: inRow.id })).request.text).toBe(inRow.body);
    const found = await operate(searchContent, { workspace: slug, text: canary });
    expect(found).toMatchObject({ read: 2, unreadable: 0 });
    expect(new Set(found.data.map((one) => one.id))).toEqual(new Set([id, inRow.id]));
    expect((await operate(exportContent, { workspace: slug })).lines).toHaveLength(2);
    expect(JSON.stringify(await line.json('content', 'show', id, '--workspace', slug))).toContain(canary);

    const objects = await store.objects();
    expect(objects.has(`of/gateway/${workspaceId}/${id}`)).toBe(true);
    for (const bytes of objects.values()) expect(bytes.includes(canary)).toBe(false);
    const { rows } = await stack.db.pool.query<{ sealed: Buffer | null }>(
      'SELECT sealed FROM call_content WHERE call_id = $1',
      [id],
    );
    expect(rows).toEqual([{ sealed: null }]);
    expect(store.seen.join()).not.toContain(canary);
  });

  it('fails no call and makes none wait while the store hangs, is full or refuses, and is kept afterwards', async () => {
    const { key } = await open();
    for (const state of [
      { hangs: true },
      { full: true },
      { refuseWith: { status: 503, code: 'SlowDown' } },
    ]) {
      await store.set(state);
      const { id } = await call(key);
      await eventually(() => store.seen.length > 0, true);
      await eventually(() => metric('gateway_content_place_up'), 0);
      expect((await findCall(stack.db, id))?.contentUntil ?? null).toBeNull();
      await store.set();
      await kept(id);
      await eventually(() => metric('gateway_content_place_up'), 1);
    }
    expect(await metric('gateway_content_lost_total')).toBe(0);
  });

  it('says that the store cannot be read, in words without secrets', async () => {
    const { slug, key } = await open();
    const { id } = await call(key);
    await stack.call(id);
    await kept(id);
    await store.set({ refuseWith: { status: 403, code: 'AccessDenied' } });
    const reading = operate(showContent, { workspace: slug, id });
    await expect(reading).rejects.toMatchObject({ code: 'content_store_unreachable' });
    await expect(operate(searchContent, { workspace: slug, text: 'x' })).rejects.toThrow(/gateway doctor/);
    await expect(operate(exportContent, { workspace: slug })).rejects.toThrow(/gateway doctor/);
    const doctor = await line.run('doctor');
    expect(doctor.out).toMatch(/FAILED +content store +.*access is denied: allow .*s3:PutObject/);
    expect(doctor.out + doctor.err).not.toContain(storeKeys.accessKeyId);
    await store.set();
    expect((await line.run('doctor')).out).toMatch(/OK +content store +s3:\/\/kept-content/);
  });

  it.each(['call', 'key', 'workspace', 'deleted workspace', 'time'] as const)(
    'is deleted from the store with its %s',
    async (what) => {
      const { id: workspaceId, slug, key, keyId } = await open();
      const { id } = await call(key);
      await stack.call(id);
      await kept(id);
      const own = async () => (await keys()).filter((name) => name.includes(workspaceId));
      expect(await own()).toEqual([`of/gateway/${workspaceId}/${id}`]);
      if (what === 'call') await operate(deleteContent, { workspace: slug, call: id });
      if (what === 'key') await operate(deleteContent, { workspace: slug, key: keyId });
      if (what === 'workspace') await operate(deleteContent, { workspace: slug });
      if (what === 'deleted workspace') await operate(deleteWorkspace, { workspace: slug, confirm: slug });
      if (what === 'time') {
        await stack.db.pool.query('UPDATE call_content SET keep_until = now() WHERE call_id = $1', [id]);
      }
      if (what !== 'deleted workspace') {
        await expect(operate(showContent, { workspace: slug, id })).rejects.toThrow(/was kept/);
      }
      await dropPartitions(stack.db.pool, Date.now(), 90);
      await passAnHour(stack.db);
      await store.set({ refuseWith: { status: 503, code: 'SlowDown' } });
      await expect(sweep()).rejects.toThrow(/answered 503/);
      expect(await own()).toHaveLength(1);
      await store.set();
      await passAnHour(stack.db);
      // Twice at once.
      await Promise.all([sweep(), sweep()]);
      expect(await own()).toEqual([]);
      const left = await stack.db.pool.query('SELECT 1 FROM content_object WHERE name LIKE $1', [
        `%${workspaceId}%`,
      ]);
      expect(left.rowCount).toBe(0);
    },
  );

  it('leaves no object behind if its process is killed while it is written', async () => {
    const { id: workspaceId, key } = await open();
    await store.set({ hangs: true });
    const { id } = await call(key);
    await eventually(() => store.seen.filter((one) => one.includes(id)).length > 0, true);
    await stack.kill('SIGKILL');
    await store.set();
    // It arrived all the same.
    await new ObjectStore(settings()).put(
      `s3://${storeKeys.bucket}/of/gateway/${workspaceId}/${id}`,
      Buffer.from('sealed'),
    );
    await sweep();
    expect((await keys()).filter((name) => name.includes(id))).toHaveLength(1);
    await passAnHour(stack.db);
    await sweep();
    expect((await keys()).filter((name) => name.includes(id))).toEqual([]);
    await stack.start();
  });
});

describe('writing content to a store that speaks S3 (contract: content/store)', () => {
  let db: Db;
  let close: () => Promise<void>;
  let thread: ObjectThread;
  beforeAll(async () => {
    const database = await createDatabase();
    db = openDb(database.url, { onError: () => {} });
    thread = new ObjectThread(settings());
    close = async () => {
      await thread.stop();
      await db.close();
      await database.drop();
    };
  });
  afterAll(() => close());

  const facts = (): ContentFacts => ({
    callId: newRowId(),
    workspaceId: newRowId(),
    keyId: newRowId(),
    atMs: Date.now(),
    keepUntilMs: Date.now() + 60_000,
  });
  const target = { bucket: storeKeys.bucket, prefix: 'of/keeper' };
  const placeOf = (writer: ObjectWriter) => inObjects(db.pool, writer, target);
  const keeperOf = (place: ContentPlace, roomBytes?: number) => {
    const told: string[] = [];
    const keeper = new ContentKeeper(place, randomBytes(32), (error) => told.push(String(error)), roomBytes);
    const keep = (bytes = 1_000) => {
      const of = facts();
      keeper.keep(keeper.copyOf('', randomBytes(bytes)), of);
      return of;
    };
    return { keeper, keep, told };
  };
  const linked = async () =>
    Number((await db.pool.query('SELECT count(call_id) FROM content_object')).rows[0].count);

  it('loses only what finds no room while the store takes nothing, says so once, and keeps the rest later', async () => {
    await store.set({ refuseWith: { status: 503, code: 'SlowDown' } });
    const before = await linked();
    const { keeper, keep, told } = keeperOf(placeOf(thread), 100_000);
    for (let calls = 0; calls < 300; calls += 1) keep();
    await eventually(() => keeper.answers(), false);
    expect(keeper.counts()).toEqual({ kept: 0, lost: 200 });
    expect(told).toEqual([expect.stringContaining('answered 503 (SlowDown)')]);
    await store.set();
    await eventually(() => keeper.counts(), { kept: 100, lost: 200 });
    expect(await linked()).toBe(before + 100);
    await keeper.stop();
  });

  it('deletes what was stored while its row could not be, and loses what would be kept too late', async () => {
    const { keeper, keep } = keeperOf(placeOf(thread));
    await db.pool.query('ALTER TABLE call_content RENAME TO away');
    const { callId } = keep();
    const own = async () => (await keys()).filter((name) => name.includes(callId)).length;
    await eventually(own, 1);
    await keeper.stop();
    await db.pool.query('ALTER TABLE away RENAME TO call_content');
    await eventually(() => keeper.counts(), { kept: 0, lost: 1 });
    await passAnHour(db);
    await deleteObjects(db.pool, thread, () => false);
    expect(await own()).toBe(0);

    const late = keeperOf(
      placeOf({
        remove: (name) => thread.remove(name),
        put: async (name, bytes) => {
          await thread.put(name, bytes);
          await db.pool.query(
            `UPDATE content_object SET delete_after = now() + interval '29 minutes' WHERE name = $1`,
            [name],
          );
        },
      }),
    );
    const { callId: lateId } = late.keep();
    await eventually(() => late.keeper.counts(), { kept: 0, lost: 1 });
    const found = await db.pool.query('SELECT 1 FROM call_content WHERE call_id = $1', [lateId]);
    expect(found.rowCount).toBe(0);
    await late.keeper.stop();
  });

  it.each([
    [{ hangs: true }, /did not answer within 5 s/],
    [{ full: true }, /answered 507 \(XMinioStorageFull\)/],
    [
      { refuseWith: { status: 404, code: 'NoSuchBucket' } },
      /the bucket does not exist: create it, or correct CONTENT_STORE/,
    ],
    [{ refuseWith: { status: 403, code: 'InvalidAccessKeyId' } }, /correct AWS_ACCESS_KEY_ID/],
    [{ refuseWith: { status: 301, code: 'PermanentRedirect' } }, /correct CONTENT_STORE_REGION/],
  ] as const)('says what is wrong with a store, without secrets: %o', async (state, text) => {
    await store.set(state);
    const said = await new ObjectStore(settings()).check().catch((error) => String(error));
    expect(said).toMatch(text);
    expect(said).not.toMatch(/STOREKEY|Signature=|store-secret/);
  });

  it('says that a bucket keeps old versions, and that nothing listens', async () => {
    await store.set({ versions: true });
    expect(await new ObjectStore(settings()).check()).toMatch(/turn versioning off/);
    const away = new ObjectStore({ ...settings(), endpoint: 'http://127.0.0.1:9' });
    await expect(away.check()).rejects.toThrow(/cannot be reached at 127.0.0.1:9 \(ECONNREFUSED\)/);
  });

  it('writes to the database without loading the client of the store', async () => {
    const { keeper, keep } = keeperOf(inDatabase(db.pool));
    keep();
    await eventually(() => keeper.counts(), { kept: 1, lost: 0 });
    expect(store.seen).toEqual([]);
    await keeper.stop();
  });
});
