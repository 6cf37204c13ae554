import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * vitest's global setup: one directory for everything that the tests write, removed after the last test. An
 * embedded database takes some 40 MB.
 */
export default function setup(): () => void {
  const before = process.env.TMPDIR;
  const directory = mkdtempSync(join(tmpdir(), 'gateway-tests-'));
  // The PostgreSQL server, which runs as another user, also has its files in it.
  chmodSync(directory, 0o711);
  process.env.TMPDIR = directory;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  };
}
