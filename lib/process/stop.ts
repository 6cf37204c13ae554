/** How long running answers may go on after the first signal, ms. */
const PATIENCE_MS = 60_000;

/**
 * Runs `stop` once at SIGTERM, SIGINT or SIGHUP, or when the parent that was asked to be tied to ends; a
 * second signal no longer waits for running answers.
 */
export function onStop(stop: (patienceMs: number) => Promise<void>): void {
  let signals = 0;
  const handle = () => {
    signals += 1;
    if (signals > 1) process.exit(1);
    stop(PATIENCE_MS).then(
      () => process.exit(process.exitCode ?? 0),
      (error: unknown) => {
        process.stderr.write(`the stop failed: ${error instanceof Error ? error.message : String(error)}\n`);
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, handle);
}
