import { readdirSync, readFileSync } from 'node:fs';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** A process and all its descendants, from /proc. */
export function processTree(pid: number): readonly Process[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const running = all.flatMap((name) => findProcess(Number(name)) ?? []);
  const tree = running.filter((one) => one.pid === pid);
  for (let at = 0; at < tree.length; at += 1) {
    tree.push(...running.filter((one) => one.parent === tree[at]?.pid));
  }
  return tree;
}

/** The processes that still run. */
export function survivors(processes: readonly Process[]): string[] {
  return processes.filter((one) => findProcess(one.pid)?.command === one.command).map((one) => one.command);
}

/** Resident memory of processes, MiB: a page that several processes share counts once in all. */
export function residentMib(processes: readonly Process[]): number {
  const kib = processes.map(({ pid }) => {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]);
  });
  return kib.reduce((sum, one) => sum + one, 0) / 1024;
}

/**
 * Sends a signal to one process. @param pid 0 and undefined would be the group of the tests themselves, all
 * of `npm test`.
 * @throws if it names no process.
 */
export function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (!pid || pid < 1) throw new Error(`no process to send ${name} to: ${pid}`);
  process.kill(pid, name);
}

/** null: no such process, or one that has ended and waits to be reaped. */
function findProcess(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return state === 'Z' ? null : { pid, parent: Number(parent), command };
  } catch {
    return null;
  }
}
