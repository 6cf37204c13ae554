import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { webhookContext } from '#lib/control/alerts/sign';
import { setCredential } from '#lib/control/operations/provider/credential';
import { ask } from '#lib/control/operations/run';
import { rotateSecrets } from '#lib/control/operations/secret/operations';
import { createWebhook } from '#lib/control/operations/webhook/operations';
import { createMoneyStore } from '#lib/gateway/admission/database/money-in-database';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { keyPrints, open, ownKeyContext, type SealingKey, seal, sealingKeysOf } from '#lib/platform/sealing';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { controlHost, createWorkspace } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';
import { joinStack } from '#tests/support/shared/join';
import { secrets } from '#tests/support/stack';

const db = await openOwnDatabase();
const actor = { kind: 'operator', name: 'test', address: null } as const;
const [old, next, third] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];

/** A gateway process as others know it: registered, with keys of its own. */
interface Process {
  readonly id: string;
  readonly keys: SealingKey;
}

/** Starts one, or starts it again with other keys. */
async function start(keys: readonly Buffer[], id: string = randomUUID()): Promise<Process> {
  await createMoneyStore(db, id, { version: '1', keyPrints: keyPrints(keys) }).register(false);
  return { id, keys };
}

const hostOf = ({ keys }: Pick<Process, 'keys'>) => ({ ...controlHost(db), sealingKey: keys });
const rotate = (process: Pick<Process, 'keys'>) => ask(hostOf(process), rotateSecrets, { actor, input: {} });
let workspace: string;
const webhooks = new Map<string, string>();

/** Each of the processes stores a credential and the secret of a webhook, and all of them read both. */
async function expectShared(...processes: Process[]): Promise<void> {
  for (const writer of processes) {
    const value = `sk-${randomUUID()}`;
    await ask(hostOf(writer), setCredential, { actor, input: { provider: 'one', value } });
    const asked = { actor, workspace, input: { url: 'https://93.184.216.34/hook' } };
    const { id, key } = await ask(hostOf(writer), createWebhook, asked);
    webhooks.set(id, key);
    for (const reader of processes) await expectReadable(reader, value);
  }
}

async function expectReadable({ keys }: Pick<Process, 'keys'>, credential: string | undefined) {
  const { providers } = await loadCatalogue(db.pool, { envSecret: () => undefined, sealingKey: keys });
  const stored = await db.prisma.webhook.findMany({ where: { id: { in: [...webhooks.keys()] } } });
  const read = stored.map(({ id, secret }) => [id, open(secret, keys, webhookContext(id))] as const);
  expect(providers.get('one')?.credentials[0]?.secret).toBe(credential);
  expect(new Map(read)).toEqual(webhooks);
}

const credential = async (keys: SealingKey) =>
  (await loadCatalogue(db.pool, { envSecret: () => undefined, sealingKey: keys })).providers.get('one')
    ?.credentials[0]?.secret;

beforeAll(async () => {
  workspace = (await createWorkspace(db, { name: 'Rotation' })).slug;
  await db.prisma.provider.create({ data: { id: 'one', name: 'One', families: {} } });
});
beforeEach(async () => {
  await db.prisma.owner.deleteMany();
  await db.prisma.webhook.deleteMany();
  webhooks.clear();
});

describe('another encryption key where several processes run (contract: operations/secret-rotation)', () => {
  it('leaves what each of them stores readable for all, at every step of their restarts', async () => {
    let [one, two] = [await start([old]), await start([old])];
    await expectShared(one, two);
    one = await start([next, old], one.id);
    await expectShared(one, two);
    expect(await refusalOf(rotate(one))).toContain(`unknown to process ${process.pid} on`);
    await expectShared(one, two);
    two = await start([next, old], two.id);
    await expectShared(one, two);
    expect(await rotate(two)).toMatchObject({ older: 0, unreadable: [] });
    await expectShared(one, two);
    one = await start([next], one.id);
    await expectShared(one, two);
    two = await start([next], two.id);
    await expectShared(one, two);
    expect(await credential([old])).toBeUndefined();
  });

  it('seals own keys of workspaces again, in use and waiting for their test, each for its row', async () => {
    const { id: workspaceId } = await createWorkspace(db, { name: 'Own keys' });
    const id = randomUUID();
    const context = ownKeyContext(workspaceId, id);
    const data = { id, workspaceId, providerId: 'one', name: 'ours' };
    await db.prisma.ownKey.create({
      data: { ...data, secret: seal('sk-used', old, context), pending: seal('sk-waiting', old, context) },
    });
    await rotate(await start([next, old]));
    const { secret, pending } = await db.prisma.ownKey.findUniqueOrThrow({ where: { id } });
    expect([open(secret ?? '', next, context), open(pending ?? '', next, context)]).toEqual([
      'sk-used',
      'sk-waiting',
    ]);
    for (const elsewhere of [ownKeyContext(randomUUID(), id), ownKeyContext(workspaceId, randomUUID())])
      expect(() => open(secret ?? '', next, elsewhere)).toThrow('cannot be decrypted');
  });

  it('is not waited for by a process that has gone, and is by one that does not say', async () => {
    const [one, two] = [await start([next, old]), await start([old])];
    await expectShared(one, two);
    await db.prisma.owner.update({ where: { id: two.id }, data: { expiresAt: new Date(0) } });
    expect((await rotate(one)).rotated).toBeGreaterThan(0);
    await db.pool.query('UPDATE owner SET key_prints = NULL, expires_at = now() + interval $$1 hour$$');
    expect(await refusalOf(rotate({ keys: [third, next] }))).toContain('unknown to');
  });

  it('is told by every gateway process of itself, and nothing of it can be read there', async () => {
    const stack = await joinStack();
    const keys = sealingKeysOf({ encryptionKey: secrets.ENCRYPTION_KEY, oldEncryptionKeys: [] });
    const { rows } = await stack.db.pool.query<{ prints: string[] }>(
      'SELECT key_prints AS prints FROM owner WHERE pid > 0 AND expires_at > now()',
    );
    expect(rows.map(({ prints }) => prints)).toContainEqual(keyPrints(keys));
    expect(keyPrints(keys).join()).not.toContain(secrets.ENCRYPTION_KEY.slice(0, 16));
    await stack.close();
  });
});
