import { describe, expect, it } from 'vitest';
import { closeInQuietTurn } from '#lib/programs/process/listener/quiet-turn';

/** A clock that tells these moments one after the other, and the last one with 5 ms more each time from then on. */
function telling(...moments: number[]) {
  const told: number[] = [];
  return {
    told,
    now: () => {
      const at = moments.shift() ?? (told.at(-1) ?? 0) + 5;
      told.push(at);
      return at;
    },
  };
}

describe('a listener is closed (contract: durability/stop)', () => {
  it('after the first turn of the event loop in which nothing happened', async () => {
    // Turns of 3 ms, 0.2 ms and 0.02 ms.
    const { told, now } = telling(0, 0, 3, 3, 3.2, 3.2, 3.22);
    await closeInQuietTurn(() => told.push(-1), now);
    expect(told).toEqual([0, 0, 3, 3, 3.2, 3.2, 3.22, -1]);
  });

  it('after one of a thousandth of the time that has passed, where none is quiet', async () => {
    // Each turn takes 5 ms.
    const { told, now } = telling(0);
    await closeInQuietTurn(() => told.push(-1), now);
    expect(told.at(-1)).toBe(-1);
    expect(told.at(-2)).toBeGreaterThan(5_000);
    expect(told.at(-2)).toBeLessThan(5_020);
  });

  it('never after a turn in which the process was not given the processor', async () => {
    const { told, now } = telling(0, 0, 2_000, 2_000, 4_000, 4_000, 4_003);
    await closeInQuietTurn(() => told.push(-1), now);
    expect(told).toEqual([0, 0, 2_000, 2_000, 4_000, 4_000, 4_003, -1]);
  });
});
