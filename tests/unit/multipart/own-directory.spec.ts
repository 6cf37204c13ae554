import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { takeOwnDirectory } from '#lib/platform/data/directory/own-directory';

const folder = mkdtempSync(join(tmpdir(), 'own-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const program = fileURLToPath(new URL('./directory-process.ts', import.meta.url));

/** Another process with a directory in `place`. */
async function start(place: string): Promise<{ child: ChildProcess; path: string }> {
  const child = spawn(process.execPath, [program, place], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [path] = await once(createInterface(child.stdout), 'line');
  return { child, path: String(path) };
}

describe('a directory of one process', () => {
  it('a directory is kept while its process lives, whatever the process id means elsewhere, and deleted once it is dead', async () => {
    const place = join(folder, 'shared');
    const other = await start(place);
    const mine = takeOwnDirectory(place);
    expect(existsSync(join(other.path, 'upload'))).toBe(true);
    other.child.kill('SIGKILL');
    await once(other.child, 'exit');
    const next = takeOwnDirectory(place);
    expect(existsSync(other.path)).toBe(false);
    expect([mine, next].map(({ path }) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    mine.remove();
    next.remove();
    expect(readdirSync(place)).toEqual(['door']);
  });

  it('a directory is made even if an earlier version left files there, which are deleted', () => {
    const place = join(folder, 'before');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, '4711-abc'), 'x');
    const { path } = takeOwnDirectory(place);
    const left = readdirSync(place).filter((name) => !name.endsWith('-journal'));
    expect(left.sort()).toEqual(['door', basename(path), `${basename(path)}.lock`].sort());
  });
});
