import { describe, expect, it } from 'vitest';
import { advance, type SeenTime } from '#lib/platform/data/seen-time';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 10, 22);
const fresh: SeenTime = { atMs: startMs, aheadMs: 0 };

/** Looks at a clock every hour of `hours`, beginning with a start. */
function run(seen: SeenTime, beginMs: number, hours: number): SeenTime {
  let now = advance(seen, beginMs, null, 0);
  for (let hour = 1; hour <= hours; hour++) now = advance(now, beginMs + hour * hourMs, now, hourMs);
  return now;
}

describe('the time that retention goes by (contract: call-log/believed-time)', () => {
  it('follows a clock that runs on, restarts and nights between them included', () => {
    expect(run(fresh, startMs, 500).atMs).toBe(startMs + 500 * hourMs);
    let seen = fresh;
    for (let day = 1; day < 100; day++) seen = run(seen, startMs + day * dayMs, 8);
    expect(seen.atMs).toBe(startMs + 99 * dayMs + 8 * hourMs);
  });

  it('does not move while a clock is ahead, however many processes start with it', () => {
    let seen = fresh;
    for (let start = 0; start < 50; start++) seen = run(seen, startMs + 120 * dayMs, 0);
    expect(run(seen, startMs + 120 * dayMs, 23).atMs).toBe(startMs);
    // Set right again: the leap is forgotten.
    const right = run(seen, startMs + hourMs, 2);
    expect(right).toEqual({ atMs: startMs + 3 * hourMs, aheadMs: 0 });
    expect(run(right, startMs + 120 * dayMs, 23).atMs).toBe(startMs + 3 * hourMs);
  });

  it('believes a clock that is ahead once processes have run with it for a day: the machine was off', () => {
    const back = startMs + 60 * dayMs;
    expect(run(fresh, back, 24).atMs).toBe(back + dayMs);
    let seen = fresh;
    for (let day = 0; day < 3; day++) seen = run(seen, back + day * dayMs, 8);
    expect(seen.atMs).toBe(back + 2 * dayMs + 8 * hourMs);
  });

  it('follows a clock that is behind at once, and takes the right one after it for a leap', () => {
    const behind = run(fresh, startMs - 400 * dayMs, 3);
    expect(behind.atMs).toBe(startMs - 400 * dayMs + 3 * hourMs);
    expect(run(behind, startMs, 3).atMs).toBe(behind.atMs);
    expect(run(behind, startMs, 24).atMs).toBe(startMs + dayMs);
  });

  it('is not led astray by one machine of several whose clock is ahead', () => {
    let seen = fresh;
    let ahead: SeenTime | null = null;
    let right: SeenTime | null = null;
    for (let hour = 1; hour < 100; hour++) {
      seen = ahead = advance(seen, startMs + 120 * dayMs + hour * hourMs, ahead, hourMs);
      seen = right = advance(seen, startMs + hour * hourMs, right, hourMs);
    }
    expect(seen).toEqual({ atMs: startMs + 99 * hourMs, aheadMs: 0 });
  });

  it('counts the time once that many processes run with the same wrong clock', () => {
    const wrongMs = startMs + 120 * dayMs;
    const last: (SeenTime | null)[] = Array.from({ length: 24 }, () => null);
    let seen = fresh;
    for (let hour = 0; hour < 24; hour++) {
      last.forEach((own, index) => {
        seen = advance(seen, wrongMs + hour * hourMs, own, own === null ? 0 : hourMs);
        last[index] = seen;
      });
      expect(seen).toEqual({ atMs: startMs, aheadMs: hour * hourMs });
    }
    expect(advance(seen, wrongMs + dayMs, last[0] ?? null, hourMs)).toEqual({
      atMs: wrongMs + dayMs,
      aheadMs: 0,
    });
  });
});
