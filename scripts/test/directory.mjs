import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

const inMemory = '/dev/shm';
const gibibyte = 2 ** 30;
/** Several times what the tests use there, about a gibibyte for each project, and memory for their processes. */
const room = { directory: 8 * gibibyte, memory: 12 * gibibyte };

/**
 * Where the tests keep their databases and journals: in memory if there is room, because writing to disk took a tenth of
 * the processor time of tests with databases. TMPDIR takes precedence. A container's /dev/shm is often small, or cannot
 * run programs, which a copy of PostgreSQL there needs.
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
