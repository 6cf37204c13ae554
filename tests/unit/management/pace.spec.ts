import { expect, it } from 'vitest';
import { createPace } from '#lib/control/management/pace';

it('admits so many requests in any minute, and says how long to wait for the next', () => {
  const pace = createPace(3);
  expect([0, 10_000, 20_000].map((at) => pace.claim('a', at))).toEqual([0, 0, 0]);
  expect(pace.claim('a', 30_000)).toBe(30);
  expect(pace.claim('b', 30_000)).toBe(0);
  expect(pace.claim('a', 59_999)).toBe(1);
  expect(pace.claim('a', 60_000)).toBe(0);
  expect(pace.claim('a', 60_001)).toBe(10);
});

it('forgets keys that were idle for a minute, and none that was not', () => {
  const pace = createPace(2);
  for (let n = 0; n < 500; n += 1) pace.claim(`idle ${n}`, n);
  pace.claim('busy', 50_000);
  pace.claim('busy', 60_000);
  expect(pace.claim('new', 60_600)).toBe(0);
  expect(pace.size).toBe(2);
  expect(pace.claim('busy', 60_700)).toBeGreaterThan(0);
});

it('remembers a bounded number of keys, however many ask in a minute', () => {
  const pace = createPace(2);
  for (let n = 0; n < 30_000; n += 1) pace.claim(`key ${n}`, 1_000);
  expect(pace.size).toBe(10_000);
});
