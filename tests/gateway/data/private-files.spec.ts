import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { openEmbedded } from '#lib/platform/data/embedded';
import { makeDataDirectory } from '#lib/platform/files/data-directory';

const made: string[] = [];
afterEach(() => {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** A data directory that was there before, with this mode whatever the umask is. */
function existing(mode: number): string {
  const dir = join(mkdtempSync(join(tmpdir(), 'gateway-modes-')), 'data');
  mkdirSync(dir);
  chmodSync(dir, mode);
  made.push(join(dir, '..'));
  return dir;
}

/** Everything in a directory, and it itself, that others may read, write or enter. */
function openToOthers(dir: string): string[] {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  return ['.', ...names].filter((name) => {
    // A running server deletes files of its own between the two looks.
    const found = statSync(join(dir, name), { throwIfNoEntry: false });
    return found !== undefined && (found.mode & 0o077) !== 0;
  });
}

describe('an existing DATA_DIR (contract: durability/private-files)', () => {
  it('of mode 0755 contains an embedded database that others cannot read, and an existing one is closed to them', async () => {
    const dir = existing(0o755);
    // Creating one keeps a core busy for seconds: other tests copy one.
    const first = await openEmbedded(dir, 'command');
    const client = new Client({ connectionString: first.url });
    await client.connect();
    await client.query(
      'CREATE TABLE made (id int PRIMARY KEY, text text); CREATE INDEX ON made (text); CHECKPOINT',
    );
    await client.end();
    expect(openToOthers(dir)).toEqual([]);
    await first.close();
    expect(openToOthers(dir)).toEqual([]);
    for (const name of ['.', 'db', 'db/global', 'run']) chmodSync(join(dir, name), 0o755);
    for (const name of ['db/PG_VERSION', 'db/global/pg_control', 'lock.db'])
      chmodSync(join(dir, name), 0o666);
    const second = await openEmbedded(dir, 'command');
    expect(openToOthers(dir)).toEqual([]);
    await second.close();
  });

  it('stays as it is when it contains other files; only the gateway’s own entries are made private', () => {
    const dir = existing(0o755);
    writeFileSync(join(dir, 'notes.txt'), '');
    chmodSync(join(dir, 'notes.txt'), 0o644);
    mkdirSync(join(dir, 'journal'));
    writeFileSync(join(dir, 'journal', 'x-1.log'), '');
    for (const name of ['journal', 'journal/x-1.log']) chmodSync(join(dir, name), 0o755);
    makeDataDirectory(dir);
    expect(openToOthers(dir)).toEqual(['.', 'notes.txt']);
  });

  it('of nothing but the gateway’s own entries is closed as a whole', () => {
    const dir = existing(0o755);
    const names = ['lock.db', 'secrets.json', 'catalogue.json', 'catalogue-sandbox.json', 'operator-link'];
    for (const name of names) {
      writeFileSync(join(dir, name), '');
      chmodSync(join(dir, name), 0o644);
    }
    makeDataDirectory(dir);
    expect(openToOthers(dir)).toEqual([]);
  });

  it('is refused with the remedy where others could replace our files', () => {
    const dir = existing(0o777);
    writeFileSync(join(dir, 'notes.txt'), '');
    expect(() => makeDataDirectory(dir)).toThrow('is writable by other users. Run "chmod go-w" on it');
    // As in /tmp: others can neither rename nor delete what is ours.
    chmodSync(dir, 0o1777);
    makeDataDirectory(dir);
    chmodSync(dir, 0o777);
    rmSync(join(dir, 'notes.txt'));
    makeDataDirectory(dir);
    expect(openToOthers(dir)).toEqual([]);
  });
});
