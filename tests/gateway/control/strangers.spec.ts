import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManagementKeyActor } from '#lib/control/operations/actor';
import { createKey, listKeys } from '#lib/control/operations/key/operations';
import { findManagementKey } from '#lib/control/operations/management-key/authenticate';
import { createManagementKey, revokeManagementKey } from '#lib/control/operations/management-key/operations';
import { showPolicyList } from '#lib/control/operations/policy/operations';
import { ask, runAny } from '#lib/control/operations/run';
import { createWorkspace as createWorkspaceOperation } from '#lib/control/operations/workspace/operations';
import { listenForPolls } from '#lib/gateway/snapshot/announce';
import { type Db, openDb } from '#lib/platform/data/db';
import { controlOf } from '#lib/programs/process/control';
import { controlHost, createWorkspace, operate, setPolicy } from '#tests/support/control/operate';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { eventually } from '#tests/support/eventually';

let database: TestDatabase;
let db: Db;
let workspace: string;
beforeAll(async () => {
  database = await createDatabase();
  db = openDb(database.url);
  const id = 'acme/large';
  await db.prisma.model.create({ data: { id, name: id, contextTokens: 1000, maxOutputTokens: 100 } });
  workspace = (await createWorkspace(db, { name: 'Strangers' })).slug;
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const operator = { kind: 'operator', name: 'test', address: null } as const;

/** A management key as its adapter knows it: just found good. */
async function keyActor(input: Record<string, unknown>): Promise<ManagementKeyActor> {
  const { key } = await operate(db, createManagementKey, input);
  const actor = await findManagementKey(db, key, 'pepper', null);
  if (actor === null) throw new Error('the key is not in force');
  return actor;
}

describe('a policy of a stranger', () => {
  it.each<[string, Record<string, unknown>]>([
    ['order', { order: ['a\u0000b'] }],
    ['only', { only: ['\ud800'] }],
    ['weights', { weights: { 'a\u0000': 1 } }],
    ['fallbackModels', { fallbackModels: ['x'.repeat(100_000)] }],
    ['aliases', { aliases: { smart: 'a\u0000/b' } }],
    ['a chain of aliases', { aliases: { smart: ['\udc00'] } }],
  ])('with a text that no database stores in %s is bad input', async (_, policy) => {
    await expect(setPolicy(db, { workspace, policy })).rejects.toMatchObject({ code: 'invalid_body' });
    expect(await operate(db, showPolicyList, { workspace })).toMatchObject({ versions: {} });
  });
});

describe('a management key that is revoked between its look-up and its change', () => {
  it.each([
    ['of a workspace', () => ({ workspace, name: 'late', role: 'admin' }), createKey],
    ['of the operator', () => ({ name: 'late', operator: true }), createWorkspaceOperation],
  ] as const)('%s changes nothing', async (_, made, operation) => {
    const actor = await keyActor(made());
    await operate(db, revokeManagementKey, { id: actor.keyId });
    const asked = { actor, workspace, input: { name: 'too late' } };
    await expect(runAny(controlHost(db), operation, asked)).rejects.toMatchObject({
      code: expect.stringMatching(/^(not_found|permission_denied)$/),
    });
    const { data } = await operate(db, listKeys, { workspace, search: 'too late' });
    expect(data).toEqual([]);
  });
});

describe('a change that was committed', () => {
  it('keeps its answer, with a key that is shown once, when its announcement fails', async () => {
    const host = { ...controlHost(db), changed: () => Promise.reject(new Error('the feed is away')) };
    const made = await ask(host, createKey, { actor: operator, workspace, input: { name: 'kept' } });
    expect(made.key).toMatch(/^mg_/);
  });

  it('is heard of at once by every process of the machine, whichever adapter made it', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'gateway-announced-'));
    let [here, there] = [0, 0];
    const stop = await listenForPolls(dataDir, async () => {
      there += 1;
    });
    const running = {
      pollNow: async () => {
        here += 1;
      },
      runtime: { catalogue: never },
    };
    const env = { keyPepper: 'pepper', encryptionKey: 'bb'.repeat(32), oldEncryptionKeys: [], dataDir };
    const outbox = { wake: () => undefined };
    const host = controlOf(env as never, { db, running: running as never, outbox, payments: null });
    // Whoever changes something waits 200 ms for the others at most: on a busy machine one may miss it.
    await eventually(async () => {
      [here, there] = [0, 0];
      await ask(host, createKey, { actor: operator, workspace, input: { name: 'announced' } });
      return [here, there];
    }, [1, 1]);
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
});

function never(): never {
  throw new Error('not asked for');
}
