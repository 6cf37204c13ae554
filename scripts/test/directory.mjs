import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

const inMemory = '/dev/shm';
const gibibyte = 2 ** 30;
/** Several times what the tests were seen to keep there, about a gibibyte for each project, and their processes besides. */
const room = { directory: 8 * gibibyte, memory: 12 * gibibyte };

/**
 * Where the tests keep their databases and journals: in memory where there is room, since writing to a disk took a
 * tenth of the processor time of those that use databases most. A TMPDIR that is set is kept. A container's /dev/shm is often small, or runs no program,
 * which a copy of PostgreSQL there must.
 * @returns {string} an existing directory.
 */
export function directoryForTests() {
  if (process.env.TMPDIR) return process.env.TMPDIR;
  try {
    accessSync(inMemory, constants.W_OK);
    const { bavail, bsize } = statfsSync(inMemory);
    const fits = bavail * bsize >= room.directory && freemem() >= room.memory;
    if (fits && !runsNoProgram(inMemory)) return inMemory;
  } catch {
    // No such file system on this machine.
  }
  return tmpdir();
}

function runsNoProgram(directory) {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const options = mounts.map((line) => line.split(' ')).findLast(([, at]) => at === directory)?.[3] ?? '';
  return options.split(',').includes('noexec');
}
