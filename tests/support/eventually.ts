import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { rest } from '#tests/support/run/rest';

/** Tries again until it does not throw; fails with the last error. */
export async function insist<Value>(work: () => Promise<Value>, patienceMs = 120_000): Promise<Value> {
  const startMs = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > startMs + patienceMs) throw error;
      await rest(startMs);
    }
  }
}

/** Asks again until the answer is as expected; fails with the last answer. Works in concurrent tests too. */
export async function eventually<Value>(
  read: () => Value | Promise<Value>,
  wanted: Value,
  patienceMs = 120_000,
): Promise<void> {
  const startMs = performance.now();
  let last = await read();
  while (!isDeepStrictEqual(last, wanted) && performance.now() < startMs + patienceMs) {
    await rest(startMs);
    last = await read();
  }
  expect(last).toEqual(wanted);
}
