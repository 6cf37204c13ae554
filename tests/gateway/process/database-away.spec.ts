import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import { createDatabase } from '#tests/support/database';
import { freePort } from '#tests/support/run/free-port';
import { inherited } from '#tests/support/run/inherited';
import { root, secrets } from '#tests/support/stack';

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-away-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** What a start says that must fail. */
async function refusedStart(databaseUrl: string): Promise<string> {
  const server = spawn(process.execPath, ['dist/server.js'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 200_000,
    env: {
      ...secrets,
      ...inherited(),
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      PORT: '0',
    },
  });
  const [said] = await Promise.all([text(server.stderr), once(server, 'exit')]);
  expect(server.exitCode).toBe(1);
  return said;
}

it('a start whose database is not there says so in one sentence, without the password', async () => {
  const port = await freePort();
  expect(await refusedStart(`postgresql://gateway:secret-word@127.0.0.1:${port}/books`)).toBe(
    `DATABASE_URL: the database books at 127.0.0.1:${port} cannot be used (connect ECONNREFUSED 127.0.0.1:${port}). Start it, or correct DATABASE_URL.\n`,
  );
});

it('and so does one whose server does not know the database', async () => {
  const url = new URL((await createDatabase()).url);
  url.pathname = '/never-made';
  expect(await refusedStart(url.href)).toBe(
    `DATABASE_URL: the database never-made at ${url.host} cannot be used (database "never-made" does not exist). Create it, or correct DATABASE_URL.\n`,
  );
});
