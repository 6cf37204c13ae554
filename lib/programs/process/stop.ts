import { messageOf } from '#lib/core/errors';
import { isOwnFault } from '#lib/programs/process/own-fault';

/** How long running answers may go on after the first signal, ms. */
const PATIENCE_MS = 60_000;
/** The same after a fault that nobody caught: a call that it left torn never ends, and nothing new is admitted. */
const FAULT_PATIENCE_MS = 10_000;
/** How long posting and giving back may take then, ms: a database that is away must not keep the process. */
const CLOSE_MS = 10_000;

/** An orderly stop: running answers end, then what is in memory goes to the database. */
interface Stop {
  finish(patienceMs: number): Promise<void>;
  close(): Promise<void>;
  /** Told of what nobody caught; `fatal`: the process stops for it. */
  report(error: unknown, fatal: boolean): void;
}

/** What a process hears of its end. */
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
  // Next listens too, only logs, and so would keep a torn process in service.
  onUncaught: (listener) => void process.on('uncaughtException', listener),
  onUnhandled: (listener) => void process.on('unhandledRejection', listener),
  exit: (code) => process.exit(code),
};

/**
 * Stops once (contract: durability/stop): at SIGTERM, SIGINT or SIGHUP, or with exit 1 at an error that nobody
 * caught, because what threw may be half done and money depends on it. A second signal no longer waits for anything.
 * Exit 1 also where the books could not be closed: the journal keeps them for the next start.
 * @returns what stops the process for an error that was caught where nothing else can be done.
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
  // A terminal or a reader that went away is no fault of ours.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return fail;
}

async function run({ finish, close }: Stop, patienceMs: number, host: StopHost): Promise<void> {
  await finish(patienceMs);
  const late = setTimeout(() => {
    say('the database does not answer: the next start settles what is in the journal');
    host.exit(1);
  }, CLOSE_MS);
  await close();
  clearTimeout(late);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
