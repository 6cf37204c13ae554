/** How long running answers may go on after the first signal, ms. */
const PATIENCE_MS = 60_000;
/** How long posting and giving back may take then, ms: a database that is away must not keep the process. */
const CLOSE_MS = 10_000;

/** An orderly stop: running answers end, then what is in memory goes to the database. */
interface Stop {
  finish(patienceMs: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Stops once at SIGTERM, SIGINT or SIGHUP; a second signal no longer waits for anything. Exit 1 where the
 * books could not be closed: the journal keeps them for the next start.
 */
export function onStop(stop: Stop): void {
  let signals = 0;
  const handle = () => {
    signals += 1;
    if (signals > 1) process.exit(1);
    run(stop).then(
      () => process.exit(process.exitCode ?? 0),
      (error: unknown) => {
        process.stderr.write(`the stop failed: ${error instanceof Error ? error.message : String(error)}\n`);
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, handle);
}

async function run({ finish, close }: Stop): Promise<void> {
  await finish(PATIENCE_MS);
  const late = setTimeout(() => {
    process.stderr.write('the database does not answer: the next start settles what is in the journal\n');
    process.exit(1);
  }, CLOSE_MS);
  await close();
  clearTimeout(late);
}
