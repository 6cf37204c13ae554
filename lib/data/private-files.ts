import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Bits of a mode that let anybody but the owner in. */
const others = 0o077;

/**
 * Gives a file or a directory with all that is in it to its owner alone: directories 0700, files 0600. Links
 * are not followed; what disappears meanwhile is passed over.
 * @throws Error of the file system: EPERM where it belongs to somebody else.
 */
export function makePrivate(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || found.isSymbolicLink()) return;
  if ((found.mode & others) !== 0) unlessGone(() => chmodSync(path, found.mode & 0o700));
  if (!found.isDirectory()) return;
  const names = unlessGone(() => readdirSync(path)) ?? [];
  for (const name of names) makePrivate(join(path, name));
}

function unlessGone<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
