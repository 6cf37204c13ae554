import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { announce, listenForPolls } from '#lib/gateway/snapshot/announce';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'announce-'));
  // The time limit of an announcement passes when a test says so, however busy the machine is.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(place, { recursive: true, force: true });
});

/** Listens in a process that is then killed, so that its socket stays behind. */
async function leaveDeadSocket(run: string): Promise<string> {
  const code = `require('net').createServer().listen('999999.sock', () => console.log('ready'))`;
  const child = spawn(process.execPath, ['-e', code], { cwd: run, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  return join(run, '999999.sock');
}

describe('announcing a change on this machine (contract: durability/announcement)', () => {
  it.each([
    ['a usual directory', () => place],
    [
      'a directory with a path longer than a socket address',
      () => join(place, 'd'.repeat(120), 'e'.repeat(60)),
    ],
  ])('reaches a listener in %s and waits for its poll', async (_name, where) => {
    const dir = where();
    let polls = 0;
    const stop = await listenForPolls(dir, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      polls++;
    });
    expect(readdirSync(join(dir, 'run'))).toEqual([`${process.pid}.sock`]);
    expect(await announce(dir)).toBe(1);
    expect(polls).toBe(1);
    await stop();
    expect(readdirSync(join(dir, 'run'))).toEqual([]);
    expect(await announce(dir)).toBe(0);
  });

  it('answers also when the poll fails', async () => {
    const stop = await listenForPolls(place, () => Promise.reject(new Error('away')));
    expect(await announce(place)).toBe(1);
    await stop();
  });

  it('removes the socket of a dead process and does not touch other sockets', async () => {
    const run = join(place, 'run');
    mkdirSync(run);
    const dead = await leaveDeadSocket(run);
    const other = createServer().listen(join(run, '.s.PGSQL.5432'));
    await once(other, 'listening');
    const stop = await listenForPolls(place, async () => undefined);
    expect(existsSync(dead)).toBe(true);
    expect(await announce(place)).toBe(1);
    expect(existsSync(dead)).toBe(false);
    expect(existsSync(join(run, '.s.PGSQL.5432'))).toBe(true);
    await stop();
    other.close();
  });

  it('waits 200 ms for a process that never answers, and no longer', async () => {
    const asked = Promise.withResolvers<void>();
    const stop = await listenForPolls(place, () => {
      asked.resolve();
      return new Promise(() => undefined);
    });
    let answered: number | null = null;
    const announcing = announce(place).then((count) => {
      answered = count;
    });
    await asked.promise;
    await vi.advanceTimersByTimeAsync(199);
    expect(answered).toBe(null);
    await vi.advanceTimersByTimeAsync(1);
    await announcing;
    expect(answered).toBe(0);
    await stop();
  });

  it('is quiet if no process ever listened', async () => {
    expect(await announce(join(place, 'absent'))).toBe(0);
  });
});
