import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';

/** Core 0 is the server's, core 1 everything else's: the server's speed is then one core's. `any` is not kept to a core. */
export type Place = 'server' | 'rest' | 'any';

const taskset = findTaskset();

/** Whether processes stay on their cores; without `taskset` or a second core they do not. */
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

/** Starts `node ARGS` in its place; its standard error is shown when it fails. */
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

/** The first line that a process prints. @throws when it ends before. */
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

/** Runs a process to its end. @returns what it printed. @throws when it failed. */
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

/** Ends a process and waits for it; after 10 s without mercy. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(timer);
}

/**
 * What a server starts beside itself (its database) must not live on the server's core, and yields to the
 * load there: on two cores it would else take the load generator's time, not the server's.
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
  const threads = readdirSync(`/proc/${pid}/task`);
  const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'));
  return lists
    .join(' ')
    .split(' ')
    .map(Number)
    .filter((child) => child > 0);
}

/** Resident memory of a process, KiB; 0 where /proc is not to be had. */
export function residentKib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readProc(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** Processor time that a process has used, ms; 0 where /proc is not to be had. */
export function processorMs(pid: number): number {
  const fields = readProc(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  // utime and stime, in ticks of 10 ms.
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10;
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
