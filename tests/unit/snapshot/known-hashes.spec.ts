import { once } from 'node:events';
import { EventEmitter } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createHashLoader } from '#lib/gateway/snapshot/known-hashes';

/** A loader whose first `failures` loads fail. */
function open(failures: number) {
  const asked: (readonly string[] | null)[] = [];
  const told: unknown[] = [];
  const loads = new EventEmitter();
  const hashes = {
    load: async (ids: readonly string[] | null) => {
      asked.push(ids);
      if (asked.length <= failures) throw new Error('the database is away');
      loads.emit('loaded');
    },
  };
  const loader = createHashLoader(hashes, (error) => told.push(error), 1);
  return { loader, asked, told, loaded: () => once(loads, 'loaded') };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('loading the hashes of keys', () => {
  it('is repeated until it succeeds, and each failure is reported', async () => {
    const { loader, asked, told, loaded } = open(3);
    const done = loaded();
    await loader.load(['a']);
    await done;
    expect(asked).toEqual([['a'], ['a'], ['a'], ['a']]);
    expect(told).toHaveLength(3);
    loader.stop();
  });

  it('retries failed loads together, and all keys once all were requested', async () => {
    const some = open(2);
    const someLoaded = some.loaded();
    await Promise.all([some.loader.load(['a']), some.loader.load(['b', 'a'])]);
    await someLoaded;
    expect(some.asked.slice(2)).toEqual([['a', 'b']]);
    const all = open(2);
    const allLoaded = all.loaded();
    await Promise.all([all.loader.load(null), all.loader.load(['a'])]);
    await allLoaded;
    expect(all.asked.slice(2)).toEqual([null]);
  });

  it('is not repeated after a stop', async () => {
    vi.useFakeTimers();
    const { loader, asked } = open(9);
    await loader.load(['a']);
    loader.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toEqual([['a']]);
  });
});
