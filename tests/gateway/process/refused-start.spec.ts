import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { openDb } from '#lib/platform/data/db';
import { openEmbedded } from '#lib/platform/data/embedded';
import { readEnv } from '#lib/platform/env/env';
import { meetSecrets } from '#lib/programs/process/secrets';
import { commandLine } from '#tests/support/command';
import { freePort } from '#tests/support/run/free-port';
import { inherited } from '#tests/support/run/inherited';
import { embeddedDirectory } from '#tests/support/shared/embedded';
import { root } from '#tests/support/stack';

const temporary = () => mkdtempSync(join(tmpdir(), 'gateway-refused-'));

async function refusedStart(settings: Record<string, string>): Promise<string> {
  const server = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'dist/server.js'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 200_000,
    env: {
      ...inherited(),
      NODE_ENV: 'production',
      LOG_LEVEL: 'error',
      PORT: String(await freePort()),
      DATA_DIR: temporary(),
      ...settings,
    },
  });
  const [said] = await Promise.all([text(server.stderr), once(server, 'exit')]);
  expect(server.exitCode).toBe(1);
  return said;
}

describe('a start that is refused names the setting in one line', () => {
  it.each([
    [
      '192.0.2.1',
      'HOST: 192.0.2.1 is not an address of this machine. Set one that is, or 0.0.0.0 for all of them.\n',
    ],
    [
      'no-such-host.invalid',
      expect.stringMatching(/^HOST: the gateway cannot listen on .*Set another HOST\.\n$/),
    ],
  ])('HOST=%s', async (HOST, line) => {
    expect(await refusedStart({ HOST, DATA_DIR: await embeddedDirectory('migrated') })).toEqual(line);
  });

  it('DATA_DIR', async () => {
    const file = join(temporary(), 'file');
    writeFileSync(file, '');
    expect(await refusedStart({ DATA_DIR: file })).toBe(
      `DATA_DIR: ${file} is not a directory. Set another DATA_DIR.\n`,
    );
  });

  it("KEY_PEPPER that is not the database's (contract: operations/secret-prints)", async () => {
    const DATA_DIR = await embeddedDirectory('migrated');
    const env = readEnv({ DATA_DIR });
    const embedded = await openEmbedded(DATA_DIR, 'command');
    const db = openDb(embedded.url, { max: 1, patient: true });
    await meetSecrets(db, env, { warn: () => undefined });
    await db.close();
    await embedded.close();
    const said = await refusedStart({ DATA_DIR, KEY_PEPPER: 'f'.repeat(64) });
    expect(said).toMatch(
      /^KEY_PEPPER: not the value that this database is used with; .*accept KEY_PEPPER".*\n$/,
    );
    const doctor = commandLine(null, { DATA_DIR, KEY_PEPPER: 'f'.repeat(64) });
    expect(await doctor.run('doctor')).toMatchObject({ out: expect.stringContaining(said.trim()), exit: 1 });
    const made = await doctor.run('workspace', 'create', '--name', 'None');
    expect(made).toMatchObject({ exit: 1, err: said });
    expect(await doctor.run('secret', 'accept', 'KEY_PEPPER')).toMatchObject({ exit: 0 });
    expect(await doctor.run('workspace', 'create', '--name', 'One')).toMatchObject({ exit: 0 });
    doctor.close();
  });

  it('DATA_DIR, after what the database itself says of its files', async () => {
    const DATA_DIR = temporary();
    mkdirSync(join(DATA_DIR, 'db'));
    writeFileSync(join(DATA_DIR, 'db', 'PG_VERSION'), '99');
    const said = await refusedStart({ DATA_DIR });
    expect(said).toMatch(/^The embedded database stopped: /);
    expect(said).toMatch(/DATA_DIR: the database in .* did not start\. The lines above say why\.\n$/);
  });
});
