import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { setCredential } from '#lib/control/operations/provider/credential';
import { ask } from '#lib/control/operations/run';
import { acceptSecret } from '#lib/control/operations/secret/accept';
import { rotateSecrets } from '#lib/control/operations/secret/operations';
import { heldSecretsOf } from '#lib/control/operations/secret/prints';
import { type Db, openDb } from '#lib/platform/data/db';
import { openEmbedded } from '#lib/platform/data/embedded';
import { type Env, readEnv } from '#lib/platform/env/env';
import { sealingKeysOf } from '#lib/platform/sealing';
import { meetSecrets } from '#lib/programs/process/secrets';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { controlHost, createKey, createWorkspace, operate } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';
import { embeddedDirectory } from '#tests/support/shared/embedded';
import { secrets } from '#tests/support/stack';

const db = await openOwnDatabase();
const fresh = await openOwnDatabase();
const actor = { kind: 'operator', name: 'test', address: null } as const;
const other = 'd'.repeat(64);
const third = 'e'.repeat(64);

/** The settings of a process. */
function process(settings: Record<string, string> = {}): Env {
  return readEnv({ DATABASE_URL: 'postgresql://db.example/gateway', ...secrets, ...settings });
}

/** A process that starts. @returns what it logs, and with which secrets it reads sessions. */
async function start(settings: Record<string, string> = {}, on: Db = db) {
  const warned: unknown[] = [];
  const warn = (...said: unknown[]) => void warned.push(said);
  const met = await meetSecrets(on, process(settings), { warn });
  return { ...met, warned };
}

/** What an operation runs with on the command line. */
function hostOf(settings: Record<string, string> = {}) {
  const env = process(settings);
  return {
    ...controlHost(db, env.keyPepper),
    sealingKey: sealingKeysOf(env),
    heldSecrets: heldSecretsOf(env),
  };
}

const accept = (name: string, settings: Record<string, string>, confirm?: string) =>
  ask(hostOf(settings), acceptSecret, { actor, input: confirm ? { name, confirm } : { name } });
const rotate = (settings: Record<string, string>) =>
  ask(hostOf(settings), rotateSecrets, { actor, input: {} });

beforeEach(async () => {
  await db.prisma.secretPrint.deleteMany();
  await db.prisma.provider.deleteMany();
});

describe('a secret and its database (contract: operations/secret-prints)', () => {
  it('belong together from the first start on', async () => {
    await start();
    await start();
    const rows = await db.prisma.secretPrint.findMany({ orderBy: { name: 'asc' } });
    expect(rows.map(({ name }) => name)).toEqual(['ENCRYPTION_KEY', 'KEY_PEPPER', 'NEXTAUTH_SECRET']);
    for (const { print } of rows) expect(print).toMatch(/^\$argon2id\$/);
    expect(new Set(rows.map(({ print }) => print)).size).toBe(3);
  });

  it.each([
    ['KEY_PEPPER', 'no API key would work. Restore the right value, or'],
    [
      'ENCRYPTION_KEY',
      'webhooks could not be read. Restore the right value (or in addition to a new one, as ENCRYPTION_KEY_OLD)',
    ],
    [
      'NEXTAUTH_SECRET',
      'signed out. Restore the right value (or in addition to a new one, as NEXTAUTH_SECRET_OLD), or',
    ],
  ])('refuse a start with another %s, with what would happen and what to do', async (name, words) => {
    await start();
    const refused = start({ [name]: other });
    await expect(refused).rejects.toThrow(`${name}: not the value that this database is used with`);
    await expect(refused).rejects.toThrow(words);
    await expect(refused).rejects.toThrow(`"gateway secret accept ${name}"`);
    await expect(refused).rejects.not.toThrow(other);
    await start();
  });

  it('are agreed upon by processes that start at once', async () => {
    const started = await Promise.allSettled(
      [secrets.KEY_PEPPER, other, third].map((KEY_PEPPER) => start({ KEY_PEPPER })),
    );
    expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await db.prisma.secretPrint.count()).toBe(3);
  });

  it('are the same however the bytes of ENCRYPTION_KEY are written', async () => {
    await start({ ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('hex') });
    await start({ ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') });
  });

  it('hold on the embedded database too', async () => {
    const embedded = await openEmbedded(await embeddedDirectory('migrated'), 'command');
    const inside = openDb(embedded.url, { max: 1, patient: true });
    await start({}, inside);
    await start({}, inside);
    await expect(start({ KEY_PEPPER: other }, inside)).rejects.toThrow('KEY_PEPPER: not the value');
    await inside.close();
    await embedded.close();
  });

  it.each(['ENCRYPTION_KEY', 'NEXTAUTH_SECRET'] as const)(
    'let processes with the old %s and with the new one start while they are replaced',
    async (name) => {
      const before = secrets[name];
      const during = { [name]: other, [`${name}_OLD`]: before };
      await start();
      await start(during);
      await start();
      if (name === 'ENCRYPTION_KEY') {
        await rotate(during);
        const [said] = await db.prisma.audit.findMany({ where: { action: 'secret.rotate' } });
        expect(said?.detail).toEqual({ accepted: name });
      } else expect(await accept(name, during)).toMatchObject({ accepted: true, ended: [] });
      await start(during);
      await start({ [name]: other });
      await start({ [name]: before, [`${name}_OLD`]: other });
      await expect(start()).rejects.toThrow(`${name}: not the value`);
    },
  );

  it('keep to the key before while a rotation leaves something behind', async () => {
    const during = { ENCRYPTION_KEY: other, ENCRYPTION_KEY_OLD: secrets.ENCRYPTION_KEY };
    await start();
    await db.prisma.provider.createMany({
      data: ['one', 'two'].map((id) => ({ id, name: id, families: {} })),
    });
    for (const provider of ['one', 'two'])
      await ask(hostOf(), setCredential, { actor, input: { provider, value: `sk-${randomUUID()}` } });
    await ask(hostOf(during), rotateSecrets, { actor, input: { limit: 1 } });
    await expect(start({ ENCRYPTION_KEY: other })).rejects.toThrow('ENCRYPTION_KEY: not the value');
    expect(await refusalOf(accept('ENCRYPTION_KEY', during))).toContain('run "gateway secret rotate"');
    await rotate(during);
    await start({ ENCRYPTION_KEY: other });
  });
});

describe('a new secret (contract: operations/secret-prints)', () => {
  it('in place of KEY_PEPPER ends keys, which are counted before', async () => {
    await start();
    const { slug } = await createWorkspace(db, { name: 'Keys' });
    for (const name of ['a', 'b']) await createKey(db, { workspace: slug, name }, secrets.KEY_PEPPER);
    const given = { workspace: slug, name: 'm', role: 'viewer' };
    await operate(db, createManagementKey, given, secrets.KEY_PEPPER);
    const changed = { KEY_PEPPER: other };
    expect(await refusalOf(accept('KEY_PEPPER', changed))).toContain(
      'this ends 2 API keys, 1 management key; enter KEY_PEPPER to accept',
    );
    expect(await refusalOf(accept('KEY_PEPPER', changed, 'yes'))).toContain('this ends');
    await expect(start(changed)).rejects.toThrow('KEY_PEPPER');
    const ended = [
      { what: 'API key', count: 2 },
      { what: 'management key', count: 1 },
    ];
    expect(await accept('KEY_PEPPER', changed, 'KEY_PEPPER')).toEqual({
      name: 'KEY_PEPPER',
      accepted: true,
      ended,
    });
    await start(changed);
    await expect(start()).rejects.toThrow('KEY_PEPPER');
    expect(await accept('KEY_PEPPER', changed)).toMatchObject({ accepted: false });
    const trail = await db.prisma.audit.findMany({
      where: { action: 'secret.accept', subject: 'KEY_PEPPER' },
    });
    expect(trail).toMatchObject([{ detail: { ended } }]);
    expect(JSON.stringify(trail)).not.toContain(other);
  });

  it('in place of ENCRYPTION_KEY ends what does not open, which is tried', async () => {
    await start();
    await db.prisma.provider.create({ data: { id: 'one', name: 'One', families: {} } });
    await ask(hostOf(), setCredential, { actor, input: { provider: 'one', value: 'sk-1' } });
    const changed = { ENCRYPTION_KEY: other };
    expect(await refusalOf(accept('ENCRYPTION_KEY', changed))).toContain('this ends 1 provider credential;');
    await accept('ENCRYPTION_KEY', changed, 'ENCRYPTION_KEY');
    await start(changed);
  });

  it('in place of NEXTAUTH_SECRET ends sessions, unless the one before is still set', async () => {
    await start();
    const user = { id: randomUUID(), email: `${randomUUID()}@example.com` };
    await db.prisma.user.create({ data: user });
    for (const days of [-1, 1, 2]) {
      const endsAt = new Date(Date.now() + days * 86_400_000);
      await db.prisma.session.create({
        data: { id: randomUUID(), userId: user.id, version: 1, method: 'password', endsAt },
      });
    }
    const changed = { NEXTAUTH_SECRET: other };
    expect(await refusalOf(accept('NEXTAUTH_SECRET', changed))).toContain('this ends 2 sessions;');
    const during = { ...changed, NEXTAUTH_SECRET_OLD: secrets.NEXTAUTH_SECRET };
    expect(await accept('NEXTAUTH_SECRET', during)).toMatchObject({ accepted: true, ended: [] });
  });

  it('is not taken when it is short', async () => {
    await start();
    for (const name of ['KEY_PEPPER', 'ENCRYPTION_KEY', 'NEXTAUTH_SECRET'])
      expect(await refusalOf(accept(name, { [name]: 'short' }, name))).toContain(
        'shorter than 32 characters',
      );
  });
});

describe('the secret that sessions are signed with (contract: operations/session-secret)', () => {
  it('is the one that the database is used with, and the others read them', async () => {
    const before = secrets.NEXTAUTH_SECRET;
    const during = { NEXTAUTH_SECRET: other, NEXTAUTH_SECRET_OLD: `${third},${before}` };
    expect((await start()).authSecrets).toEqual([before]);
    expect((await start(during)).authSecrets).toEqual([before, other, third]);
    await accept('NEXTAUTH_SECRET', during);
    expect((await start(during)).authSecrets).toEqual([other, third, before]);
  });
});

describe('a secret of fewer than 32 characters (contract: operations/secrets)', () => {
  it('is refused on a new database, and warned of on one that is in use', async () => {
    const short = { KEY_PEPPER: 'a', NEXTAUTH_SECRET: 'b'.repeat(31) };
    const refused = start(short, fresh);
    await expect(refused).rejects.toThrow(
      /^NEXTAUTH_SECRET: shorter than 32 characters; .*openssl rand -hex 32\nKEY_PEPPER: /,
    );
    expect(await fresh.prisma.secretPrint.count()).toBe(0);
    await createWorkspace(fresh, { name: 'Used' });
    const { warned } = await start(short, fresh);
    expect(warned).toEqual([
      [{ settings: ['NEXTAUTH_SECRET', 'KEY_PEPPER'] }, expect.stringContaining('openssl rand -hex 32')],
    ]);
  });
});
