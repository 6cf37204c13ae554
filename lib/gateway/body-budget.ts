/** Bodies up to this size are read without asking the budget (decisions §4). */
export const FREE_BYTES = 256 * 1024;

/** The process-wide memory for large request bodies: who asks beyond it waits, in order. */
export interface BodyBudget {
  /** Takes `bytes`, now or later; small ones are free. @returns null when nothing has to be waited for. */
  take(bytes: number): Promise<void> | null;
  give(bytes: number): void;
}

/** @param totalBytes `BODY_BUDGET_BYTES`. A single request larger than all of it gets it alone. */
export function createBodyBudget(totalBytes: number): BodyBudget {
  let taken = 0;
  const waiting: { bytes: number; go: () => void }[] = [];
  const fits = (bytes: number) => taken === 0 || taken + bytes <= totalBytes;
  return {
    take: (bytes) => {
      if (bytes <= FREE_BYTES) return null;
      if (waiting.length === 0 && fits(bytes)) {
        taken += bytes;
        return null;
      }
      return new Promise((resolve) => {
        waiting.push({ bytes, go: resolve });
      });
    },
    give: (bytes) => {
      if (bytes <= FREE_BYTES) return;
      taken -= bytes;
      for (let next = waiting[0]; next && fits(next.bytes); next = waiting[0]) {
        waiting.shift();
        taken += next.bytes;
        next.go();
      }
    },
  };
}
