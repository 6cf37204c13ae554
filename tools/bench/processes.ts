import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';

/** Core 0 is for the server and core 1 for everything else, so the server has one core. `any` is not pinned. */
export type Place = 'server' | 'rest' | 'any';

const taskset = findTaskset();

/** Whether processes are pinned to cores: not without `taskset` or a second core. */
export const pinned = taskset !== null;

function findTaskset(): string | null {
  if (process.platform !== 'linux' || availableParallelism() < 2) return null;
  try {
    execFileSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' });
    return 'taskset';
  } catch {
    return null;
  }
}

const coreOf = (place: Place) => (place === 'server' ? '0' : '1');

/** Starts `node ARGS` on its core. */
export function startNode(
  place: Place,
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcess {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', ...args];
  const [command = '', ...rest] =
    taskset === null || place === 'any' ? node : [taskset, '-c', coreOf(place), ...node];
  return spawn(command, rest, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
}

/** The first line that a process prints. @throws Error if it ends before that. */
export function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
    child.once('exit', (code) => reject(new Error(`it ended with code ${code}`)));
    child.once('error', reject);
  });
}

/** Runs a process to its end. @returns what it printed. @throws Error if it fails. */
export function run(child: ChildProcess, onText: (text: string) => void = () => {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      onText(text);
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`it ended with code ${code}: ${text}`)),
    );
  });
}

/** Stops a process and waits for it; after 10 s it is killed. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(timer);
}

/**
 * Moves the child processes of a server (its database) off the server's core. They have a low priority there, because
 * they would otherwise take time from the load generator.
 */
export function moveChildren(pid: number): void {
  if (taskset === null) return;
  for (const child of childrenOf(pid)) {
    execFileSync(taskset, ['-acp', coreOf('rest'), String(child)], { stdio: 'ignore' });
    setPriority(child, constants.priority.PRIORITY_LOW);
    moveChildren(child);
  }
}

function childrenOf(pid: number): number[] {
  const threads = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  const lists = threads.map((thread) => readProc(`/proc/${pid}/task/${thread}/children`));
  return lists
    .join(' ')
    .split(' ')
    .map(Number)
    .filter((child) => child > 0);
}

/** Resident memory of a process, KiB; 0 without /proc. */
export function residentKib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readProc(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** Processor time that a process has used, ms; 0 without /proc. */
export function processorMs(pid: number): number {
  const fields = readProc(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  // utime and stime, in ticks of 10 ms.
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10;
}

/** The same of a process and all processes that it started, which still run. */
export function treeProcessorMs(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + treeProcessorMs(child), processorMs(pid));
}

/** The same, with the processes that have ended: a server ends connections while it is measured. */
export function allProcessorMs(pid: number): number {
  const fields = readProc(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  // What ended children and theirs took: cutime and cstime, in ticks of 10 ms.
  const ended = (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * 10;
  return childrenOf(pid).reduce((sum, child) => sum + allProcessorMs(child), processorMs(pid) + ended);
}

/** The process that started a process; 0 without /proc. */
export function parentOf(pid: number): number {
  const [, parent = 0] = readProc(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return Number(parent);
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
