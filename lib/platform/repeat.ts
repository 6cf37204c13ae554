/** Periodic work of a process. */
export interface Repeated {
  /** Starts nothing more and waits for the running work. */
  stop(): Promise<void>;
}

/**
 * Works every `everyMs`; a turn is skipped while the previous one still runs.
 * @param report called with every failure; the next turn still runs.
 */
export function repeat(
  everyMs: number,
  work: () => Promise<unknown>,
  report: (error: unknown) => void,
): Repeated {
  let running: Promise<unknown> | null = null;
  const timer = setInterval(() => {
    running ??= work()
      .catch(report)
      .finally(() => {
        running = null;
      });
  }, everyMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
