import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { onStop } from '#lib/programs/process/stop';

/** A process that does not end: signals and faults are functions to call. */
function started(stop: { finish?: (patienceMs: number) => Promise<void>; close?: () => Promise<void> } = {}) {
  const never = () => {};
  const heard = { signal: never, uncaught: (_: unknown) => {}, unhandled: (_: unknown) => {} };
  const exits: number[] = [];
  const begun: number[] = [];
  const reported: boolean[] = [];
  const parts = {
    finish: async (patienceMs: number) => {
      begun.push(patienceMs);
      await stop.finish?.(patienceMs);
    },
    close: async () => stop.close?.(),
    report: (_: unknown, fatal: boolean) => void reported.push(fatal),
  };
  onStop(parts, {
    onSignal: (listener) => {
      heard.signal = listener;
    },
    onUncaught: (listener) => {
      heard.uncaught = listener;
    },
    onUnhandled: (listener) => {
      heard.unhandled = listener;
    },
    exit: (code) => void exits.push(code),
  });
  return { heard, exits, begun, reported };
}

const forever = () => new Promise<void>(() => {});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a stop', () => {
  it('begins in the same turn as the signal, so that health reports it at once', () => {
    const { heard, begun } = started({ finish: forever });
    heard.signal();
    expect(begun).toEqual([60_000]);
  });

  it('ends at the second signal in the very turn in which that comes, with exit 1, whatever still runs', () => {
    const { heard, exits, begun } = started({ finish: forever });
    heard.signal();
    expect(exits).toEqual([]);
    heard.signal();
    expect(exits).toEqual([1]);
    expect(begun).toHaveLength(1);
  });

  it('ends with 0 when calls and books have ended', async () => {
    const { heard, exits } = started();
    heard.signal();
    await vi.advanceTimersByTimeAsync(0);
    expect(exits).toEqual([0]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits 10 s for a database that does not answer, then leaves the rest to the next start', async () => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { heard, exits } = started({ close: forever });
    heard.signal();
    await vi.advanceTimersByTimeAsync(9_999);
    expect(exits).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(exits).toEqual([1]);
    expect(said).toHaveBeenCalledWith(expect.stringContaining('the next start settles'));
    said.mockRestore();
  });

  it('after an uncaught error waits 10 s for calls, and ends with 1', async () => {
    const { heard, exits, begun, reported } = started();
    heard.uncaught(new Error('torn'));
    expect([begun, reported]).toEqual([[10_000], [true]]);
    await vi.advanceTimersByTimeAsync(0);
    expect(exits).toEqual([1]);
  });

  it('is not caused by a rejection in a library, which is still logged', () => {
    const { heard, begun, reported } = started();
    heard.unhandled(new Error('a page let go'));
    expect([begun, reported]).toEqual([[], [false]]);
  });
});
