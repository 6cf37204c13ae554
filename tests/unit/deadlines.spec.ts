import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadlines, type Due } from '#lib/platform/deadlines';

describe('time limits watched with one timer', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const told: string[] = [];
  let nowMono = 0;

  function passMs(ms: number): void {
    for (let passed = 0; passed < ms; passed += 10) {
      nowMono += 10;
      vi.advanceTimersByTime(10);
    }
  }

  function due(name: string, dueMono: number, deadlines: Deadlines): Due & { dueMono: number } {
    const one = {
      dueMono,
      place: -1,
      expire: () => {
        told.push(name);
        deadlines.forget(one);
      },
    };
    deadlines.watch(one);
    return one;
  }

  it('notifies each one that has expired, once, and no other', () => {
    told.length = 0;
    nowMono = 0;
    const deadlines = new Deadlines(() => nowMono);
    due('a', 100, deadlines);
    const moved = due('b', 100, deadlines);
    due('c', 100, deadlines);
    const gone = due('d', 100, deadlines);
    const late = due('e', 500, deadlines);
    deadlines.forget(gone);
    moved.dueMono = 300;
    passMs(200);
    expect(told.toSorted()).toEqual(['a', 'c']);
    passMs(200);
    expect(told.toSorted()).toEqual(['a', 'b', 'c']);
    deadlines.forget(late);
    deadlines.forget(late);
    passMs(400);
    expect(told).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits again when something is watched after a rest', () => {
    told.length = 0;
    nowMono = 0;
    const deadlines = new Deadlines(() => nowMono);
    due('a', 50, deadlines);
    passMs(200);
    due('b', nowMono + 50, deadlines);
    passMs(200);
    expect(told).toEqual(['a', 'b']);
  });
});
