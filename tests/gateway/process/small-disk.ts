import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own that can be filled to its last page. */
export interface SmallDisk {
  readonly path: string;
  fill(): void;
  /** Takes back what `fill` wrote. */
  free(): void;
  close(): void;
}

/** @throws Error when this user may not mount: the tests of a full disk need root, as in a container. */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'gateway-small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path], { stdio: 'pipe' });
  } catch (error) {
    rmdirSync(path);
    throw new Error('a full disk is tested on a tmpfs, which root alone may mount: run this test as root', {
      cause: error,
    });
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill: () => {
      const file = openSync(filler, 'a');
      try {
        for (let size = 1 << 20; size > 0; ) {
          try {
            writeSync(file, Buffer.alloc(size));
          } catch {
            size >>= 1;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    close: () => {
      execFileSync('umount', [path]);
      rmdirSync(path);
    },
  };
}
