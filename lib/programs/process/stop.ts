import { messageOf } from '#lib/core/errors';

/** How long running answers may go on after the first signal, ms. */
const PATIENCE_MS = 60_000;
/** The same after an uncaught error: a call that it interrupted never ends, and no new call is admitted. */
const FAULT_PATIENCE_MS = 10_000;
/** How long posting and giving back may take then, ms: an unavailable database must not keep the process running. */
const CLOSE_MS = 10_000;

const root = new URL('../../../', import.meta.url).href;

/** An orderly stop: running answers end, then what is in memory is written to the database. */
interface Stop {
  finish(patienceMs: number): Promise<void>;
  close(): Promise<void>;
  /** Called with uncaught errors; `fatal`: the process stops because of it. */
  report(error: unknown, fatal: boolean): void;
}

/** How a process is told to stop. */
export interface StopHost {
  /** SIGTERM, SIGINT or SIGHUP. */
  onSignal(listener: () => void): void;
  onUncaught(listener: (error: unknown) => void): void;
  onUnhandled(listener: (reason: unknown) => void): void;
  exit(code: 0 | 1): void;
}

export const thisProcess: StopHost = {
  onSignal: (listener) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, listener);
  },
  // Next also listens, but only logs, and so would keep a broken process in service.
  onUncaught: (listener) => void process.on('uncaughtException', listener),
  onUnhandled: (listener) => void process.on('unhandledRejection', listener),
  exit: (code) => process.exit(code),
};

/**
 * Stops once (contract: durability/stop): at SIGTERM, SIGINT or SIGHUP, or with exit 1 at an uncaught error, because
 * what threw may be half done and money depends on it. A second signal exits at once. Exit 1 also if the books could
 * not be closed: the journal keeps them for the next start.
 * @returns a function that stops the process because of an error that leaves no other choice.
 */
export function onStop(stop: Stop, host = thisProcess): (error: unknown) => void {
  let stopping = false;
  let signals = 0;
  let code: 0 | 1 = 0;
  const begin = (patienceMs: number) => {
    if (stopping) return;
    stopping = true;
    run(stop, patienceMs, host).then(
      () => host.exit(code),
      (error: unknown) => {
        say(`the stop failed: ${messageOf(error)}`);
        host.exit(1);
      },
    );
  };
  host.onSignal(() => {
    signals += 1;
    if (signals > 1) host.exit(1);
    else begin(PATIENCE_MS);
  });
  const fail = (error: unknown) => {
    code = 1;
    stop.report(error, true);
    begin(FAULT_PATIENCE_MS);
  };
  host.onUncaught(fail);
  host.onUnhandled((reason) => {
    if (isOwnFault(reason)) fail(reason);
    else stop.report(reason, false);
  });
  // A terminal or reader that went away is not an error.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return fail;
}

async function run({ finish, close }: Stop, patienceMs: number, host: StopHost): Promise<void> {
  await finish(patienceMs);
  const late = setTimeout(() => {
    say('the database does not respond: the next start settles the calls in the journal');
    host.exit(1);
  }, CLOSE_MS);
  await close();
  clearTimeout(late);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Whether an unhandled rejection came from the gateway's own code. Next abandons promises of pages that it no longer
 * needs, so that a rejection of a page says nothing about the process; a rejection of our code means that something was
 * begun and its end is unknown.
 */
function isOwnFault(reason: unknown): boolean {
  const stack = reason instanceof Error ? (reason.stack ?? '') : '';
  const own = [`${root}dist/`, `${root}lib/`].some((ours) => stack.includes(ours));
  return own && !stack.includes('/.next/');
}
