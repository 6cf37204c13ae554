import { describe, expect, it } from 'vitest';
import { createIds, idFloor, idTimeMs } from '#lib/platform/ids';

function idsAt(times: { now: number }) {
  return createIds({ now: () => times.now, mono: () => 0 });
}

function must(id: string | null): string {
  if (id === null) throw new Error('no id');
  return id;
}

describe('an id (contract: request/request-id, request/no-request-id)', () => {
  const noon = Date.UTC(2026, 10, 21, 12);

  it('is a UUIDv7 that contains its time', () => {
    const id = must(idsAt({ now: noon }).newId());
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(idTimeMs(id)).toBe(noon);
  });

  it('is larger than the one before, within a millisecond and when the clock steps back', () => {
    const times = { now: noon };
    const ids = idsAt(times);
    let before = '';
    for (let i = 0; i < 20_000; i++) {
      if (i === 10_000) times.now -= 500;
      const id = must(ids.newId());
      if (id <= before) throw new Error(`${id} after ${before}`);
      before = id;
    }
    expect(idTimeMs(before) - noon).toBeLessThan(20);
  });

  it('follows a clock that was far ahead', () => {
    const times = { now: noon + 3_600_000 };
    const ids = idsAt(times);
    ids.newId();
    times.now = noon;
    expect(idTimeMs(must(ids.newId()))).toBe(noon);
  });

  it('is unique across processes that start in the same millisecond', () => {
    const seen = new Set<string | null>();
    for (let process = 0; process < 100; process++) {
      const ids = idsAt({ now: noon });
      for (let i = 0; i < 100; i++) seen.add(ids.newId());
    }
    expect(seen.size).toBe(10_000);
  });

  it.each([Date.UTC(2025, 0, 1) - 1, Date.UTC(2100, 0, 1), 0, Number.NaN, -5])(
    'is refused when the clock says %d',
    (now) => {
      expect(idsAt({ now }).newId()).toBeNull();
      expect(idsAt({ now }).fallbackId()).toMatch(/^noid-[0-9a-f]{16}$/);
    },
  );

  it.each([Date.UTC(2025, 0, 1), Date.UTC(2100, 0, 1) - 1])('is given when the clock says %d', (now) => {
    expect(idTimeMs(must(idsAt({ now }).newId()))).toBe(now);
  });

  it('has a fallback that differs each time', () => {
    const ids = idsAt({ now: 0 });
    expect(ids.fallbackId()).not.toBe(ids.fallbackId());
  });

  it('is in the range of its time', () => {
    const id = must(idsAt({ now: noon }).newId());
    expect(idFloor(noon) <= id && id < idFloor(noon + 1)).toBe(true);
    expect(idFloor(noon)).toHaveLength(36);
  });
});
