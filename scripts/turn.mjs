import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until no other process installs or builds in `root`. The lock is a symbolic link, which is created atomically, and
 * whose target names its holder.
 * @returns {Promise<() => void>} releases the lock.
 */
export async function takeTurn(root) {
  const link = join(
    tmpdir(),
    `model-gateway-${createHash('sha256').update(root).digest('hex').slice(0, 20)}.turn`,
  );
  for (let waited = false; ; waited = true) {
    try {
      symlinkSync(nameOf(process.pid), link);
      return () => rmSync(link, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = findHolder(link);
    if (holder === null) {
      rmSync(link, { force: true });
      continue;
    }
    if (!waited) process.stderr.write(`Waiting for process ${holder}, which installs or builds here…\n`);
    await pause(200);
  }
}

/** The process id in the link; null if that process has ended, even if another one has its id now. */
function findHolder(link) {
  try {
    const target = readlinkSync(link);
    const pid = Number(target.split(':')[0]);
    return pid !== process.pid && target === nameOf(pid) && isAlive(pid) ? pid : null;
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** A process id and, if the system reports it, the start of the process: ids are reused. */
function nameOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return `${pid}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return `${pid}:`;
  }
}
