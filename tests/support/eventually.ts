import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';

/** Tries again until it does not throw; fails with the last error. */
export async function insist<Value>(work: () => Promise<Value>, patienceMs = 120_000): Promise<Value> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > untilMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

/** Asks again until the answer is the wanted one; fails with the last answer. Works in concurrent tests too. */
export async function eventually<Value>(
  read: () => Value | Promise<Value>,
  wanted: Value,
  patienceMs = 120_000,
): Promise<void> {
  const untilMs = performance.now() + patienceMs;
  let last = await read();
  while (!isDeepStrictEqual(last, wanted) && performance.now() < untilMs) {
    await new Promise((resolve) => setTimeout(resolve, 25));
    last = await read();
  }
  expect(last).toEqual(wanted);
}
