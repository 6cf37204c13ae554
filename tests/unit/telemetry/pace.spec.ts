import { expect, it } from 'vitest';
import { delayOf, readRetryAfter } from '#lib/programs/telemetry/send/pace';

const nowMs = Date.UTC(2026, 10, 22, 12);

it('waits twice as long after each failure, between half and all of it, a minute at most', () => {
  expect([1, 2, 3, 6, 7, 1000].map((failures) => delayOf(failures, null, 0))).toEqual([
    500, 1000, 2000, 16_000, 30_000, 30_000,
  ]);
  expect(delayOf(1, null, 0.999)).toBe(1000);
  expect(delayOf(50, null, 0.999)).toBe(59_970);
});

it('waits as long as the collector asks for, an hour at most', () => {
  expect(delayOf(1, 7_000, 0.5)).toBe(7_000);
  expect(delayOf(9, 0, 0.5)).toBe(0);
  expect(delayOf(1, 86_400_000, 0.5)).toBe(3_600_000);
});

it.each([
  ['120', 120_000],
  [' 5 ', 5_000],
  ['Sun, 22 Nov 2026 12:00:30 GMT', 30_000],
  ['Sun, 22 Nov 2026 11:00:00 GMT', 0],
  ['soon', null],
  ['-1', null],
  ['1e9', null],
  ['', null],
  [undefined, null],
])('reads Retry-After %j as %j ms', (header, ms) => {
  expect(readRetryAfter(header, nowMs)).toBe(ms);
});
