import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Report } from '#lib/platform/data/embedded-child';
import {
  embeddedUrl,
  findHolder,
  type Holder,
  isAlive,
  type Role,
  socketPath,
} from '#lib/platform/data/embedded-directory';
import { environmentWith } from '#lib/platform/env/env';
import { makeDataDirectory } from '#lib/platform/files/data-directory';
import { OperatorError } from '#lib/platform/operator-error';

export interface Embedded {
  /** A PostgreSQL address; only the host, a socket directory, differs from a real server's. */
  readonly url: string;
  /** Ends the child if this call started it. */
  close(): Promise<void>;
}

/** The data directory belongs to another running process. */
export class DataDirInUse extends OperatorError {
  constructor(dataDir: string, holder: Holder | null) {
    const who = holder ? `the ${holder.role} with process id ${holder.pid}` : 'another process';
    super(`DATA_DIR: ${dataDir} is already in use by ${who}. Stop it, or set another DATA_DIR.`);
  }
}

const longestWaitMs = 10_000;
const longestCloseMs = 10_000;
const restartPauseMs = 250;

/**
 * Opens the embedded database of `dataDir` (contract: durability/embedded-database).
 * A `server` refuses to run with another server; a `command` uses a running server's database. Either waits
 * up to 10 s for a command, or for the child of a killed process, to let go.
 * @throws DataDirInUse, or another OperatorError.
 */
export async function openEmbedded(dataDir: string, role: Role): Promise<Embedded> {
  makeDataDirectory(dataDir);
  const real = realpathSync(dataDir);
  const attached = { url: embeddedUrl(real), close: async () => undefined };
  if (role === 'command' && isServer(findHolder(real)) && (await answers(real))) return attached;
  const owned = await own(real, role);
  return owned ?? attached;
}

/** @returns null if a server has started in the meantime whose database a command can use. */
async function own(dataDir: string, role: Role): Promise<Embedded | null> {
  let child = start(dataDir, role);
  try {
    if (!(await ready(child, dataDir, role))) {
      await child.end();
      return null;
    }
  } catch (error) {
    await child.end();
    throw error;
  }
  let closing = false;
  const watch = () => {
    child.unref();
    child.process.once('exit', () => {
      if (!closing) setTimeout(restart, restartPauseMs).unref();
    });
  };
  const restart = () => {
    if (closing) return;
    console.error('The embedded database ended unexpectedly. Starting it again.');
    child = start(dataDir, role);
    watch();
  };
  watch();
  return {
    url: embeddedUrl(dataDir),
    close: async () => {
      closing = true;
      await child.end();
    },
  };
}

/**
 * Waits until the child has the lock and listens.
 * @returns false if a server has started in the meantime whose database a command can use.
 * @throws DataDirInUse, or another OperatorError.
 */
async function ready(child: ReturnType<typeof start>, dataDir: string, role: Role): Promise<boolean> {
  const deadlineMs = performance.now() + longestWaitMs;
  for await (const report of child.reports) {
    if (report.state === 'ready') return true;
    const rival = isServer(report.holder);
    if (rival && role === 'command' && (await answers(dataDir))) return false;
    const late = performance.now() > deadlineMs;
    if (late || (rival && role === 'server')) throw new DataDirInUse(dataDir, report.holder);
  }
  // The child has said why on standard error.
  throw new OperatorError(`DATA_DIR: the database in ${dataDir} did not start. The lines above say why.`);
}

function isServer(holder: Holder | null): boolean {
  return holder?.role === 'server' && isAlive(holder.pid);
}

/** Whether a process listens on the embedded database's socket. */
function answers(dataDir: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath(dataDir));
    const settle = (listening: boolean) => {
      socket.destroy();
      resolve(listening);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}

const program = fileURLToPath(new URL('./embedded-child.ts', import.meta.url));

/**
 * - 128 MiB before the first full collection: its own heap is small, and messages of a megabyte brought one about every
 *   third settlement, a tenth of its time.
 * - The engine's functions are compiled again, optimized, once they have run fifteen times as much as by default, where
 *   that began while the database started: half of what a start takes.
 */
const childFlags = [
  '--disable-warning=ExperimentalWarning',
  '--initial-old-space-size=128',
  '--wasm-tiering-budget=200000000',
];

/**
 * For glibc, which would keep what compiling the engine has freed: an arena for each thread that compiles, and larger
 * blocks in the heap, 57 MiB in all.
 */
const childAllocator = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

function start(dataDir: string, role: Role) {
  const args = [...childFlags, program, dataDir, role, String(process.pid)];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    env: environmentWith(childAllocator),
  });
  // Through this process, whose log may have its own format.
  child.stderr?.on('data', (text) => process.stderr.write(text));
  const exited = new Promise<void>((resolve) => {
    // Closed, not just ended: what it said last has been passed on then.
    child.once('close', () => resolve()).once('error', () => resolve());
  });
  const pipe = reportPipe(child);
  return {
    process: child,
    /** Ends after the child's end. */
    reports: reportsOf(pipe),
    /** Lets the parent exit without waiting: its end closes the pipe that keeps the child running. */
    unref: () => {
      child.unref();
      pipe.resume();
      for (const stream of [child.stdin, child.stderr, pipe]) if (stream instanceof Socket) stream.unref();
    },
    end: async () => {
      child.ref();
      child.stdin?.end();
      const force = setTimeout(() => child.kill('SIGKILL'), longestCloseMs);
      await exited;
      clearTimeout(force);
    },
  };
}

/** File descriptor 3 is a pipe: `start` asks for it. */
const reportPipe = (child: ChildProcess): Readable => child.stdio[3] as Readable;

/** The lines come from our own child, which writes only reports there. */
async function* reportsOf(pipe: Readable): AsyncIterable<Report> {
  for await (const line of createInterface({ input: pipe })) yield JSON.parse(line) as Report;
}
