import { createHash } from 'node:crypto';
import { readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until no other process installs or builds in `root`.
 * A symbolic link is made whole or not at all, and its target can hold the process id.
 * @returns {Promise<() => void>} gives the turn back.
 */
export async function takeTurn(root) {
  const link = join(
    tmpdir(),
    `model-gateway-${createHash('sha256').update(root).digest('hex').slice(0, 20)}.turn`,
  );
  for (;;) {
    try {
      symlinkSync(String(process.pid), link);
      return () => rmSync(link, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!holderIsAlive(link)) rmSync(link, { force: true });
    else await pause(200);
  }
}

function holderIsAlive(link) {
  try {
    process.kill(Number(readlinkSync(link)), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
