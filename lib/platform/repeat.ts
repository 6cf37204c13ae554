/** Work that a process repeats as long as it runs. */
export interface Repeated {
  /** Begins nothing more and waits for what runs. */
  stop(): Promise<void>;
}

/**
 * Works every `everyMs`; a turn whose predecessor still runs is left out.
 * @param report hears of every turn that failed; the next one runs all the same.
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
