import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makePrivate } from '#lib/platform/files/private-files';
import { OperatorError } from '#lib/platform/operator-error';

/** Why DATA_DIR cannot be used, and what to do, by the code of the error. */
const remedies: Readonly<Record<string, string>> = {
  EACCES: 'is not writable by this user. Make this user its owner, or set another DATA_DIR.',
  EPERM: 'is not writable by this user. Make this user its owner, or set another DATA_DIR.',
  EROFS: 'is read-only. Mount it writable, or set another DATA_DIR.',
  ENOSPC: 'is on a full disk. Free some space, or set another DATA_DIR.',
  EDQUOT: "is on a disk where this user's quota is used up. Free some space, or set another DATA_DIR.",
  ENOTDIR: 'is not a directory. Set another DATA_DIR.',
  EEXIST: 'is not a directory. Set another DATA_DIR.',
  ENAMETOOLONG: 'is too long. Set another DATA_DIR.',
};

function unusable(dataDir: string, why: string): OperatorError {
  return new OperatorError(`DATA_DIR: ${dataDir} ${why}`);
}

const probe = Buffer.alloc(4096, 1);

/** Names of all files and directories that the gateway creates in DATA_DIR. */
const ownNames =
  /^(?:db|db\.new|journal|run|tmp|lock\.db(?:-journal)?|catalogue(?:-sandbox)?\.json|operator-link|secrets\.json(?:\.\d+\.[0-9a-f]+)?|\.probe-\d+)$/;

/**
 * Creates `dataDir` (0700) if it is missing and writes 4 KiB there, so that a disk that is full or read-only is noticed
 * at the start. Existing files of the gateway are closed to other users.
 * @throws OperatorError.
 */
export function makeDataDirectory(dataDir: string): void {
  const file = join(dataDir, `.probe-${process.pid}`);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const descriptor = openSync(file, 'w', 0o600);
    try {
      writeSync(descriptor, probe);
    } finally {
      closeSync(descriptor);
      rmSync(file, { force: true });
    }
    closeToOthers(dataDir);
  } catch (error) {
    if (error instanceof OperatorError || !(error instanceof Error)) throw error;
    const code = 'code' in error ? String(error.code) : '';
    throw unusable(dataDir, remedies[code] ?? `cannot be used (${error.message}). Set another DATA_DIR.`);
  }
}

/**
 * Closes the directory to other users if it contains only the gateway's files; otherwise only those files. Inside
 * the database's directory modes stay as they are, since closing the directory is enough.
 */
function closeToOthers(dataDir: string): void {
  const { mode, uid } = statSync(dataDir);
  const names = readdirSync(dataDir);
  const ours = names.filter((name) => ownNames.test(name));
  for (const name of ours) {
    const path = join(dataDir, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found && found.uid !== uid && found.uid !== process.getuid?.()) {
      throw unusable(
        dataDir,
        `contains ${name}, which belongs to another user. Make this user its owner, or remove it.`,
      );
    }
    if (name.startsWith('db')) chmodSync(path, 0o700);
    else makePrivate(path);
  }
  if ((mode & 0o077) === 0) return;
  if (uid === process.getuid?.() && ours.length === names.length) {
    chmodSync(dataDir, 0o700);
    return;
  }
  const sticky = (mode & 0o1000) !== 0;
  if ((mode & 0o022) !== 0 && !sticky) {
    throw unusable(dataDir, `is writable by other users. Run "chmod go-w" on it, or set another DATA_DIR.`);
  }
}
