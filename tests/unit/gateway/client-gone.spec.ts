import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Call } from '#lib/gateway/flow/call/call';
import type { Reply } from '#lib/gateway/flow/lane';
import { Drains } from '#lib/gateway/flow/relay/drains';
import { LiveReply } from '#lib/gateway/flow/relay/live-reply';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { GoneWatch } from '#lib/gateway/flow/steps/client-gone';
import type { Exchange } from '#lib/gateway/upstream/exchange';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Parts {
  readonly steps?: string;
  readonly stream?: boolean;
  readonly job?: object;
  readonly resourceEffect?: string;
  readonly caches?: true;
  readonly sentWhole?: boolean;
  readonly policy?: 'abort' | 'drain';
  readonly concurrency?: number | null;
}

/** A call whose exchange is under way; only what the watch reads of each is there. */
function callUnderWay(parts: Parts = {}, drains = new Drains()) {
  const { steps = 'generate', stream = true, job, resourceEffect, caches, concurrency = null } = parts;
  const listeners: (() => void)[] = [];
  const claim = { callId: 'call' };
  const call = {
    arrival: { onGone: (listener: () => void) => listeners.push(listener) },
    claim,
    outcome: { gone: false },
    ask: { stream, ...(job ? { job } : {}) },
    operation: { steps, ...(resourceEffect ? { resourceEffect } : {}), ...(caches ? { caches } : {}) },
    snapshot: { key: { id: 'key', limits: { concurrency } } },
  };
  const coordinator = { leave: vi.fn() };
  const runtime = { drains, coordinator };
  const exchange = { sentWhole: parts.sentWhole ?? true, abort: vi.fn(), resume: vi.fn() };
  const watch = new GoneWatch(
    runtime as unknown as Runtime,
    call as unknown as Call,
    new LiveReply({} as unknown as Reply),
  );
  const begin = () => watch.underway(exchange as unknown as Exchange, parts.policy ?? 'drain');
  const leave = () => {
    for (const listener of listeners) listener();
  };
  return {
    begin,
    leave,
    watch,
    exchange,
    coordinator,
    claim,
    closed: () => exchange.abort.mock.calls.length,
  };
}

describe('a client that leaves (contract: money/client-gone, money/drain)', () => {
  it.each([
    ['a stream', { stream: true }, 15_000],
    ['a whole answer', { stream: false }, 60_000],
  ])('has %s read on for a time', (_, parts, limitMs) => {
    const one = callUnderWay(parts);
    one.begin();
    one.leave();
    expect(one.exchange.resume).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(limitMs - 1);
    expect(one.closed()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(one.closed()).toBe(1);
  });

  it('a client that leaves gives its slot back at once, whether its answer is drained or not', () => {
    for (const policy of ['abort', 'drain'] as const) {
      const one = callUnderWay({ policy });
      one.begin();
      one.leave();
      expect(one.coordinator.leave).toHaveBeenCalledWith(one.claim);
    }
  });

  it.each<[string, Parts]>([
    ['the provider stops working then', { policy: 'abort' }],
    ['the request was not sent whole', { sentWhole: false }],
    ['it only counts tokens', { steps: 'count' }],
    ['it only reads what is kept', { steps: 'stored' }],
    ['a job is begun that was not sent whole', { job: {}, sentWhole: false }],
  ])('has its connection closed at once where %s', (_, parts) => {
    const one = callUnderWay(parts);
    one.begin();
    one.leave();
    expect(one.closed()).toBe(1);
  });

  it.each<[string, Parts]>([
    ['begins a job', { job: {}, policy: 'abort', stream: false }],
    ['has a context kept', { caches: true, policy: 'abort', stream: false }],
    ['ends what is kept', { steps: 'stored', resourceEffect: 'delete', policy: 'abort', stream: false }],
  ])('is heard out where it %s, however many drains there are', (_, parts) => {
    const one = callUnderWay(parts, new Drains(0));
    one.begin();
    one.leave();
    expect(one.closed()).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(one.closed()).toBe(1);
  });

  it('a client that leaves has its connection closed if its key already has as many drains as concurrent calls', () => {
    const drains = new Drains();
    const [first, second] = [1, 2].map(() => callUnderWay({ concurrency: 1 }, drains));
    for (const one of [first, second]) {
      one?.begin();
      one?.leave();
    }
    expect([first?.closed(), second?.closed()]).toEqual([0, 1]);
    first?.watch.done();
    const third = callUnderWay({ concurrency: 1 }, drains);
    third.begin();
    third.leave();
    expect(third.closed()).toBe(0);
  });

  it('if the client left before anything was sent, the attempt ends as soon as it begins', () => {
    const one = callUnderWay({ sentWhole: false });
    one.leave();
    expect(one.closed()).toBe(0);
    one.begin();
    expect(one.closed()).toBe(1);
  });

  it('a drain ends with its call', () => {
    const one = callUnderWay();
    one.begin();
    one.leave();
    one.watch.done();
    vi.advanceTimersByTime(60_000);
    expect(one.closed()).toBe(0);
  });
});
