import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallTable } from '#lib/platform/call-table';

describe('a table of running calls', () => {
  it('holds what a Map would hold, whatever is added and removed', () => {
    const step = fc.record({
      id: fc.integer({ min: 0, max: 3_000 }).map((number) => `0199a0b1-0000-7000-8000-${number}`),
      act: fc.constantFrom('set', 'set', 'delete', 'get'),
      value: fc.integer(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 4_000, size: 'max' }), (steps) => {
        const table = new CallTable<number>();
        const map = new Map<string, number>();
        for (const { id, act, value } of steps) {
          if (act === 'delete') expect(table.delete(id)).toBe(map.delete(id));
          else if (act === 'get') expect(table.get(id)).toBe(map.get(id));
          else {
            table.set(id, value);
            map.set(id, value);
          }
        }
        expect(table.size).toBe(map.size);
        expect([...table.values()].sort()).toEqual([...map.values()].sort());
        for (const [id, value] of map) expect(table.get(id)).toBe(value);
      }),
      { numRuns: 30 },
    );
  });

  it('grows without losing anything', () => {
    const table = new CallTable<number>();
    for (let at = 0; at < 10_000; at++) table.set(`call-${at}`, at);
    expect(table.size).toBe(10_000);
    for (let at = 0; at < 10_000; at++) expect(table.get(`call-${at}`)).toBe(at);
    for (let at = 0; at < 10_000; at += 2) expect(table.delete(`call-${at}`)).toBe(true);
    expect([...table.values()].length).toBe(5_000);
  });
});
