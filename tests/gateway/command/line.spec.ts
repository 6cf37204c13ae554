import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenForPolls } from '#lib/gateway/snapshot/announce';
import { type CommandLine, commandLine } from '#tests/support/command';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { eventually } from '#tests/support/eventually';
import { embeddedDirectory } from '#tests/support/shared/embedded';

const catalogue = `providers:
  - { id: one, name: One, families: { chat: https://one.test/v1 }, credential: { env: ONE_KEY } }
  - { id: two, name: Two, families: { chat: https://two.test/v1 }, credential: { env: TWO_KEY } }
models:
  - id: acme/large
    name: Large
    contextTokens: 1000
    maxOutputTokens: 100
    input: [text]
    output: [text]
    offers:
      - { provider: one, upstreamModel: large-1, families: [chat], price: { input: "2", output: "8" } }
      - { provider: two, upstreamModel: large-2, families: [chat], price: { input: "1", output: "4" } }
  - id: acme/small
    name: Small
    contextTokens: 1000
    maxOutputTokens: 100
    input: [text]
    output: [text]
    offers:
      - { provider: one, upstreamModel: small-1, families: [chat], price: { input: "1", output: "2" } }
`;

let database: TestDatabase;
let gateway: CommandLine;

function file(name: string, text: string): string {
  const path = join(gateway.dir, name);
  writeFileSync(path, text);
  return path;
}

beforeAll(async () => {
  database = await createDatabase();
  gateway = commandLine(database.url, { ONE_KEY: 'x' });
  expect((await gateway.run('catalogue', 'apply', file('catalogue.yaml', catalogue))).exit).toBe(0);
});
afterAll(async () => {
  gateway.close();
  await database.drop();
});

describe('the command line (contract: operations/command-line)', () => {
  it('makes, changes and shows a workspace', async () => {
    const made = await gateway.json(
      'workspace',
      'create',
      '--name',
      'Acme Labs',
      '--credit',
      '5',
      '--rpm',
      '9',
    );
    expect(made).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), slug: 'acme-labs' });
    await gateway.json('workspace', 'set', 'acme-labs', '--rpm', 'none', '--time-zone', 'Europe/Berlin');
    await gateway.json('credit', 'add', 'acme-labs', '10', '--reason', 'start');
    await gateway.json('credit', 'add', 'acme-labs', '-2.5', '--reason', 'too much');
    expect(await gateway.json('workspace', 'show', 'acme-labs')).toMatchObject({
      id: made.id,
      slug: 'acme-labs',
      name: 'Acme Labs',
      timeZone: 'Europe/Berlin',
      balance: '7.5',
      credit: '5',
      held: '0',
      available: '12.5',
      rpm: null,
      tpm: 4_000_000,
      concurrency: 50,
      keys: [],
    });
  });

  it('ends cleanly when nobody reads its output any more', async () => {
    expect(await gateway.unread('ledger', 'verify')).toEqual({ exit: 0, err: '' });
    expect(await gateway.unread('help')).toEqual({ exit: 0, err: '' });
    expect((await gateway.unread('workspace', 'show', 'nobody')).exit).toBe(1);
  });

  it('behaves as a program: exit code, one document on standard output, errors on standard error', async () => {
    const shown = await gateway.spawn('workspace', 'show', 'acme-labs', '--json');
    expect(shown).toMatchObject({ exit: 0, err: '' });
    expect(JSON.parse(shown.out)).toMatchObject({ slug: 'acme-labs' });
    const missing = await gateway.spawn('workspace', 'show', 'nobody');
    expect(missing).toMatchObject({ exit: 1, out: '', err: expect.stringContaining('nobody') });
  });

  it('announces every change to the processes on its DATA_DIR, and nothing else', async () => {
    let polls = 0;
    const stop = await listenForPolls(gateway.dir, async () => {
      polls += 1;
    });
    const pollsOf = async (...argv: string[]) => {
      polls = 0;
      await gateway.json('workspace', ...argv);
      return polls;
    };
    // A command waits 200 ms at most: on a busy machine a process may miss one.
    let rpm = 11;
    await eventually(() => pollsOf('set', 'acme-labs', '--rpm', String(rpm++)), 1);
    expect(await pollsOf('show', 'acme-labs')).toBe(0);
    await stop();
  });

  it('shows people that a key without a list of models may call all', async () => {
    await gateway.json('workspace', 'create', '--name', 'Scopes');
    const { id } = await gateway.json('key', 'create', '--workspace', 'scopes', '--name', 'open');
    const listed = await gateway.run('key', 'list', '--workspace', 'scopes');
    expect(listed.out).toContain('all models');
    const shown = await gateway.run('key', 'show', String(id));
    expect(shown.out).toMatch(/^models +all models$/m);
    expect(shown.out).toMatch(/^rpm +none$/m);
    expect(await gateway.json('key', 'show', String(id))).toMatchObject({ models: null });
  });

  it('takes a key through all its states', async () => {
    await gateway.json('workspace', 'create', '--name', 'Keys');
    const flags = ['--models', 'acme/large', '--daily-cap', '0.5', '--max-output-tokens', '50'];
    const made = await gateway.json<{ id: string; key: string }>(
      ...['key', 'create', '--workspace', 'keys', '--name', 'ci', ...flags],
    );
    expect(made.key).toMatch(/^mg_[0-9A-Za-z]{49}$/);
    expect(await gateway.json('key', 'show', made.id)).toMatchObject({
      id: made.id,
      name: 'ci',
      workspace: 'keys',
      status: 'active',
      quotaExhausted: false,
      models: ['acme/large'],
      maxOutputTokens: 50,
      dailyCap: '0.5',
      d7Cap: null,
      quota: null,
      rpm: null,
      expiresAt: null,
      spent: { day: '0', d7: '0', d30: '0', total: '0' },
      lastUsedAt: null,
      display: `${made.key.slice(0, 7)}…${made.key.slice(-4)}`,
    });
    await gateway.json('key', 'set', made.id, '--daily-cap', 'none', '--rpm', '7');
    expect(await gateway.json('key', 'disable', made.id)).toMatchObject({ status: 'inactive' });
    expect(await gateway.json('key', 'enable', made.id)).toMatchObject({ status: 'active' });
    expect(await gateway.json('key', 'exhaust', made.id)).toMatchObject({ quotaExhausted: true });
    expect(await gateway.json('key', 'restore', made.id)).toMatchObject({ quotaExhausted: false });
    const rotated = await gateway.json<typeof made>('key', 'rotate', made.id, '--overlap', '60');
    expect(rotated.id).toBe(made.id);
    expect(rotated.key).not.toBe(made.key);
    expect(await gateway.json('key', 'revoke', made.id)).toMatchObject({ status: 'revoked' });
    expect(await gateway.json('key', 'show', made.id)).toMatchObject({ rpm: 7, dailyCap: null });
    expect((await gateway.run('key', 'enable', made.id)).exit).toBe(1);
  });

  it('sets a policy that route explain then follows', async () => {
    await gateway.json('workspace', 'create', '--name', 'Routes');
    const explain = () =>
      gateway.json<{ candidates: { provider: string }[]; skipped: { provider: string; why: string }[] }>(
        ...['route', 'explain', '--workspace', 'routes', '--model', 'acme/large'],
      );
    const before = await explain();
    expect(before.candidates.map((one) => one.provider)).toEqual(['one']);
    expect(before.skipped).toEqual([
      { provider: 'two', model: 'acme/large', why: expect.stringContaining('TWO_KEY') },
    ]);
    await gateway.json('policy', 'set', 'routes', '--file', file('policy.yaml', 'ignore: [one]'));
    expect((await explain()).candidates).toEqual([]);
    expect(await gateway.json('policy', 'show', 'routes')).toMatchObject({ default: { ignore: ['one'] } });
  });

  it('explains the route of a model by any of its names, a chain in its order', async () => {
    await gateway.json('workspace', 'create', '--name', 'Names');
    const aliases = 'aliases: { smart: acme/large, tried: [acme/small, acme/large] }';
    await gateway.json('policy', 'set', 'names', '--file', file('names.yaml', aliases));
    const explain = (model: string) =>
      gateway.json<{ model: string; requestedModel: string; candidates: { model: string }[] }>(
        ...['route', 'explain', '--workspace', 'names', '--model', model],
      );
    for (const name of ['large', 'smart'])
      expect(await explain(name)).toMatchObject({ model: 'acme/large', requestedModel: name });
    const { model, candidates } = await explain('tried');
    expect([model, ...candidates.map((one) => one.model)]).toEqual([
      'acme/small',
      'acme/small',
      'acme/large',
    ]);
  });

  it('refuses aliases of unknown models, for slugs, and of one model alone', async () => {
    await gateway.json('workspace', 'create', '--name', 'Unused');
    const set = (text: string, ...more: string[]) =>
      gateway.run('policy', 'set', 'unused', '--file', file('a.yaml', text), ...more);
    for (const [text, told, ...more] of [
      ['aliases: { a: acme/none }', 'there is no model "acme/none"'],
      ['aliases: { acme/large: acme/small }', 'alias "acme/large" is the id of a model'],
      ['aliases: { a: acme/large }', 'the default policy of the workspace', '--model', 'acme/large'],
      ['aliases: { a: [] }', 'aliases.a: names no model'],
      ['aliases: { a: 5 }', 'list of 1 to 20'],
      ['aliases: { "a b": acme/large }', 'printable characters without spaces'],
    ] as const)
      expect(await set(text, ...more), text).toMatchObject({ exit: 1, err: expect.stringContaining(told) });
  });

  it('makes a user who belongs to a workspace', async () => {
    await gateway.json('workspace', 'create', '--name', 'People');
    const flags = ['--email', 'A@Example.com', '--password', 'correct horse', '--workspace', 'people'];
    const made = await gateway.json('user', 'create', ...flags, '--role', 'admin');
    expect(made).toMatchObject({ email: 'a@example.com' });
    expect((await gateway.run('user', 'create', ...flags)).err).toContain('already');
  });

  it.each([
    ['a limit of 0', ['workspace', 'create', '--name', 'X', '--rpm', '0'], 'rpm'],
    ['a negative limit', ['workspace', 'create', '--name', 'X', '--tpm', '-1'], 'tpm'],
    [
      'an unknown time zone',
      ['workspace', 'create', '--name', 'X', '--time-zone', 'Mars/Base'],
      'Europe/Berlin',
    ],
    ['bad money', ['workspace', 'create', '--name', 'X', '--credit', 'ten'], '0.25'],
    ['an unknown workspace', ['workspace', 'show', 'nowhere'], 'check its slug'],
    [
      'a key of an unknown workspace',
      ['key', 'create', '--workspace', 'nowhere', '--name', 'k'],
      'check its slug',
    ],
    [
      'an unknown model',
      ['key', 'create', '--workspace', 'acme-labs', '--name', 'k', '--models', 'a/b'],
      'catalogue list',
    ],
    ['an unknown key', ['key', 'show', 'nothing'], 'check its id'],
    ['an unknown call', ['call', 'show', 'nothing'], 'X-Request-Id'],
    ['a credit of 0', ['credit', 'add', 'acme-labs', '0', '--reason', 'r'], 'changes nothing'],
    [
      'a time that is none',
      ['usage', '--workspace', 'acme-labs', '--from', 'noon', '--to', 'x', '--by', 'day'],
      '--from',
    ],
  ])('refuses %s with exit 1 and says what to do', async (_, argv, advice) => {
    const ran = await gateway.run(...argv, '--json');
    expect(ran).toMatchObject({ exit: 1, out: '', err: expect.stringContaining(advice) });
  });

  it.each([
    ['nothing', [], 'gateway workspace create'],
    ['an unknown noun', ['frob'], 'gateway doctor'],
    ['a noun alone', ['key'], 'gateway key rotate ID'],
    ['a missing argument', ['workspace', 'show'], 'gateway workspace show SLUG'],
    ['a missing option', ['key', 'create', '--name', 'k'], 'gateway key create --workspace SLUG'],
    ['an unknown option', ['call', 'list', '--workspce', 'x'], 'gateway call list --workspace SLUG'],
    ['one argument too many', ['key', 'show', 'a', 'b'], 'gateway key show ID'],
  ])('answers %s with exit 2 and the right usage line', async (_, argv, usage) => {
    const ran = await gateway.run(...argv);
    expect(ran).toMatchObject({ exit: 2, out: '', err: expect.stringContaining(usage) });
  });

  it('refuses a policy that names something unknown to the catalogue, with its line where possible', async () => {
    await gateway.json('workspace', 'create', '--name', 'Refused');
    const set = (text: string) => gateway.run('policy', 'set', 'refused', '--file', file('p.json', text));
    expect(await set('{ "order": ["nobody"] }')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('"nobody"'),
    });
    expect(await set('{\n "orders": [] }')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('p.json:2: orders'),
    });
    expect(await gateway.json('policy', 'show', 'refused')).toMatchObject({ default: {} });
  });

  it('verifies a sound ledger, and fails on one that was tampered with', async () => {
    expect(await gateway.json('ledger', 'verify')).toMatchObject({ ok: true });
    const { openDb } = await import('#lib/platform/data/db');
    const db = openDb(database.url);
    await db.pool.query('UPDATE workspace SET balance_nano = balance_nano + 1 WHERE slug = $1', [
      'acme-labs',
    ]);
    const ran = await gateway.run('ledger', 'verify');
    await db.pool.query('UPDATE workspace SET balance_nano = balance_nano - 1 WHERE slug = $1', [
      'acme-labs',
    ]);
    await db.close();
    expect(ran).toMatchObject({
      exit: 1,
      out: expect.stringContaining('BROKEN'),
      err: expect.stringContaining('1 of'),
    });
  });

  it('reports what is configured, reachable and missing (contract: operations/doctor)', async () => {
    const { checks } = await gateway.json<{ checks: { name: string; state: string; detail: string }[] }>(
      'doctor',
    );
    const state = (name: string) => checks.find((check) => check.name === name);
    expect(state('database')).toMatchObject({ state: 'ok' });
    expect(state('provider one')).toMatchObject({ state: 'ok' });
    expect(state('provider two')).toMatchObject({ state: 'off', detail: 'set TWO_KEY' });
    expect(state('stripe')).toMatchObject({ state: 'off' });
  });

  it('names a missing setting instead of starting', async () => {
    const bare = commandLine(database.url, { KEY_PEPPER: '' });
    const ran = await bare.run('workspace', 'show', 'acme-labs');
    bare.close();
    expect(ran).toMatchObject({ exit: 1, err: expect.stringContaining('KEY_PEPPER') });
  });
});

describe('the command line without a server or a DATABASE_URL', () => {
  it('works on the embedded database, one command after the other', async () => {
    const alone = commandLine(null, { DATA_DIR: await embeddedDirectory('migrated') });
    await alone.json('workspace', 'create', '--name', 'Alone');
    const shown = await alone.spawn('workspace', 'show', 'alone', '--json');
    expect(shown).toMatchObject({ exit: 0, err: '' });
    expect(JSON.parse(shown.out)).toMatchObject({ slug: 'alone', balance: '0' });
    alone.close();
  });
});
