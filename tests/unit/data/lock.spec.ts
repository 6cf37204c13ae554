import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, expect, it } from 'vitest';
import { takeLock } from '#lib/platform/data/lock';

const folder = mkdtempSync(join(tmpdir(), 'lock-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a lock is held until it is released, even if nothing refers to it', async () => {
  const path = join(folder, 'lock');
  takeLock(path);
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  for (let rounds = 0; rounds < 5; rounds += 1) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(takeLock(path)).toBeNull();
});

it('a released lock can be taken again', () => {
  const path = join(folder, 'again');
  takeLock(path)?.release();
  expect(takeLock(path)).not.toBeNull();
});
