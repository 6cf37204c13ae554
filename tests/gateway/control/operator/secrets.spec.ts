import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signatureOf, webhookContext } from '#lib/control/alerts/sign';
import { setCredential } from '#lib/control/operations/provider/credential';
import { ask } from '#lib/control/operations/run';
import { rotateSecrets, showSecrets } from '#lib/control/operations/secret/operations';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { open, type SealingKey, seal } from '#lib/platform/sealing';
import { controlHost, createWorkspace } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
const actor = { kind: 'operator', name: 'test', address: null } as const;
const [before, after, other] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
const during = [after, before];

const hostWith = (sealingKey: SealingKey) => ({ ...controlHost(db), sealingKey });
const rotate = (sealingKey: SealingKey, input: object = {}) =>
  ask(hostWith(sealingKey), rotateSecrets, { actor, input });
const status = (sealingKey: SealingKey) => ask(hostWith(sealingKey), showSecrets, { actor, input: {} });

/** Providers with their credentials, and webhooks with their secrets. */
const credentials = { one: 'sk-provider-one-0123456789', two: 'sk-provider-two-0123456789' };
const hooks = new Map<string, string>([1, 2, 3].map((nth) => [randomUUID(), `whsec_${nth}`]));
const rows = Object.keys(credentials).length + hooks.size;
/** Each row, and the one of the trail. */
const steps = rows + 1;

beforeAll(async () => {
  const { id: workspaceId } = await createWorkspace(db, { name: 'Secrets' });
  await db.prisma.provider.createMany({
    data: Object.keys(credentials).map((id) => ({ id, name: id, families: { chat: 'https://p.test/v1' } })),
  });
  await db.prisma.webhook.createMany({
    data: [...hooks.keys()].map((id) => ({ id, workspaceId, url: 'https://w.test', secret: '' })),
  });
  // The process is killed, as its connection sees it, at the step that the table names.
  await db.pool.query(`
    CREATE SEQUENCE step;
    CREATE TABLE killed_at (step int);
    INSERT INTO killed_at VALUES (0);
    CREATE FUNCTION kill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('step') = (SELECT step FROM killed_at) THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER kill BEFORE UPDATE ON provider FOR EACH ROW EXECUTE FUNCTION kill();
    CREATE TRIGGER kill BEFORE UPDATE ON webhook FOR EACH ROW EXECUTE FUNCTION kill();
    CREATE TRIGGER kill BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION kill();`);
});
beforeEach(async () => {
  await killAt(0);
  for (const [provider, value] of Object.entries(credentials))
    await ask(hostWith(before), setCredential, { actor, input: { provider, value } });
  for (const [id, secret] of hooks)
    await db.prisma.webhook.update({
      where: { id },
      data: { secret: seal(secret, before, webhookContext(id)) },
    });
});
afterAll(() => killAt(0));

async function killAt(step: number): Promise<void> {
  await db.pool.query('UPDATE killed_at SET step = $1', [step]);
  await db.pool.query("SELECT setval('step', 1, false)");
}

/** Reads every secret as calls and deliveries do. @throws when one does not open. */
async function expectReadable(key: SealingKey): Promise<void> {
  const reports: unknown[] = [];
  const sources = {
    envSecret: () => undefined,
    sealingKey: key,
    report: (error: unknown) => reports.push(error),
  };
  const { providers } = await loadCatalogue(db.pool, sources);
  const read = Object.keys(credentials).map((id) => [id, providers.get(id)?.credentials[0]?.secret]);
  expect([Object.fromEntries(read), reports]).toEqual([credentials, []]);
  for (const { id, secret } of await db.prisma.webhook.findMany())
    expect(signatureOf(open(secret, key, webhookContext(id)), 1, '')).toBe(
      signatureOf(hooks.get(id) ?? '', 1, ''),
    );
}

describe('the rotation of the encryption key (contract: operations/secret-rotation)', () => {
  it.each(Array.from({ length: steps }, (_, at) => at + 1))(
    'leaves every secret readable when it is killed at its step %i, and is completed by another run',
    async (step) => {
      await killAt(step);
      await expect(rotate(during)).rejects.toThrow();
      await expectReadable(during);
      await expectReadable(before);
      await killAt(0);
      expect(await rotate(during)).toEqual({ rotated: rows, current: rows, older: 0, unreadable: [] });
      await expectReadable(during);
      await expectReadable(after);
    },
  );

  it('may be made in parts and by two at once, and is written down once', async () => {
    expect(await rotate(during, { limit: 2 })).toMatchObject({ rotated: 2, older: rows - 2 });
    await expectReadable(during);
    const both = await Promise.all([rotate(during), rotate(during)]);
    expect(both.reduce((sum, { rotated }) => sum + rotated, 0)).toBe(rows - 2);
    await expectReadable(after);
    const trail = () => db.prisma.audit.count({ where: { action: 'secret.rotate' } });
    const written = await trail();
    expect(await rotate(during)).toMatchObject({ rotated: 0, older: 0 });
    expect(await trail()).toBe(written);
  });

  it('does not take back a credential that is given meanwhile', async () => {
    const given = 'sk-given-meanwhile-0123456789';
    const input = { provider: 'one', value: given };
    await Promise.all([rotate(during), ask(hostWith(during), setCredential, { actor, input })]);
    const { providers } = await loadCatalogue(db.pool, { envSecret: () => undefined, sealingKey: during });
    expect(providers.get('one')?.credentials[0]?.secret).toBe(given);
  });

  it('names what no key opens, leaves it as it is, and rotates the rest', async () => {
    const { credential } = await db.prisma.provider.findUniqueOrThrow({ where: { id: 'one' } });
    const strange = { sealed: seal('sk', other, 'provider-credential:one') };
    await db.prisma.provider.update({ where: { id: 'one' }, data: { credential: strange } });
    expect(await status(during)).toEqual({
      current: 0,
      older: rows - 1,
      unreadable: ['provider credential one'],
    });
    expect(await rotate(during)).toMatchObject({
      rotated: rows - 1,
      unreadable: ['provider credential one'],
    });
    const left = await db.prisma.provider.findUniqueOrThrow({ where: { id: 'one' } });
    expect(left.credential).toEqual(strange);
    await db.prisma.provider.update({ where: { id: 'one' }, data: { credential: credential ?? {} } });
  });
});

describe('a sealed secret (contract: operations/sealed)', () => {
  it('does not open in another row, nor in another field of a row of the same id', async () => {
    const { credential } = await db.prisma.provider.findUniqueOrThrow({ where: { id: 'one' } });
    await db.prisma.provider.update({ where: { id: 'two' }, data: { credential: credential ?? {} } });
    const [hook = ''] = hooks.keys();
    const { sealed } = credential as { sealed: string };
    await db.prisma.webhook.update({ where: { id: hook }, data: { secret: sealed } });
    expect((await status(before)).unreadable).toEqual(['provider credential two', `webhook secret ${hook}`]);
    const { providers } = await loadCatalogue(db.pool, { envSecret: () => undefined, sealingKey: before });
    const read = ['one', 'two'].map((id) => providers.get(id)?.credentials[0]?.secret ?? null);
    expect(read).toEqual([credentials.one, null]);
    // Of the same id, but another column.
    await db.prisma.provider.create({ data: { id: hook, name: hook, families: {} } });
    const secret = seal('whsec', before, webhookContext(hook));
    await db.prisma.provider.update({ where: { id: hook }, data: { credential: { sealed: secret } } });
    expect((await status(before)).unreadable).toContain(`provider credential ${hook}`);
    await db.prisma.provider.delete({ where: { id: hook } });
  });
});
