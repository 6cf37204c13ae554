import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until no other process installs or builds in `root`.
 * A symbolic link is made whole or not at all, and its target can tell who holds it.
 * @returns {Promise<() => void>} gives the turn back.
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

/** The process id that the link names; null when that process has ended, whoever has its id now. */
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

/** A process id and, where the system tells it, when that process began: ids come round again. */
function nameOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return `${pid}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return `${pid}:`;
  }
}
