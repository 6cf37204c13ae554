import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CommandLine, commandLine } from '#tests/support/command';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import { type Sandbox, startSandbox } from '#tools/sandbox/server';

let database: TestDatabase;
let gateway: CommandLine;
let server: Sandbox;
beforeAll(async () => {
  database = await createDatabase();
  gateway = commandLine(database.url);
  server = await startSandbox();
});
afterAll(async () => {
  gateway.close();
  await server.close();
  await database.drop();
});

async function run(...words: string[]): Promise<string> {
  const { exit, out, err } = await gateway.run(...words);
  if (exit !== 0) throw new Error(err);
  return out;
}

it('adds a provider, finds its models, offers one, and exports and applies the catalogue', async () => {
  expect(await run('provider', 'presets')).toMatch(/lm-studio +LM Studio +http:\/\/localhost:1234\/v1/);
  expect(await run('provider', 'add', 'ollama', '--url', new URL(server.url).origin)).toContain(
    `ollama at ${server.url} is added; "gateway provider discover ollama" lists its models`,
  );
  expect(await run('provider', 'discover', 'ollama')).toMatch(/^echo +ollama\/echo +new +unknown +none$/m);
  const models = join(gateway.dir, 'models.yaml');
  writeFileSync(models, '- upstreamModel: echo\n  free: true\n- upstreamModel: mini\n');
  const refused = await gateway.run('provider', 'offer', 'ollama', models);
  expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining('"mini" needs a price') });
  writeFileSync(
    models,
    '- upstreamModel: echo\n  free: true\n- { upstreamModel: mini, price: { input: "1", output: "2" } }\n',
  );
  expect(await run('provider', 'offer', 'ollama', models)).toBe(
    [
      '+ model ollama/echo',
      '+ model ollama/mini',
      '+ offer ollama/echo at ollama: $0 in, $0 out',
      '+ offer ollama/mini at ollama: $1 in, $2 out\n',
    ].join('\n'),
  );
  expect(await run('provider', 'test', 'ollama')).toContain('ollama/echo');
  expect(await run('provider', 'withdraw', 'ollama', '--models', 'ollama/echo')).toBe(
    'ollama no longer offers ollama/echo\n',
  );

  const file = join(gateway.dir, 'exported.yaml');
  const exported = await run('catalogue', 'export');
  writeFileSync(file, exported);
  expect(await run('catalogue', 'apply', file)).toBe('no change\n');
  const empty = await createDatabase();
  const other = commandLine(empty.url);
  expect(await other.run('catalogue', 'apply', file)).toMatchObject({ exit: 0 });
  expect((await other.run('catalogue', 'export')).out).toBe(exported);
  other.close();
  await empty.drop();
});

it('fails with the reason if the models cannot be listed', async () => {
  await run('provider', 'set', 'ollama', '--url', 'http://127.0.0.1:1/v1');
  const ran = await gateway.run('provider', 'discover', 'ollama');
  expect(ran).toMatchObject({ exit: 1, err: expect.stringContaining('nothing listens at 127.0.0.1:1') });
});
