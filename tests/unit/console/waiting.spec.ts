import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isNavigation, type Waiting, watchWaits } from '#lib/console/waiting';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('waiting for a page or an action (contract: control-plane/waiting)', () => {
  const told: Waiting[] = [];
  const watch = () => {
    told.length = 0;
    return watchWaits((waiting) => told.push(waiting));
  };

  it('shows nothing for what is answered within 300 ms', () => {
    const answered = watch().begin();
    vi.advanceTimersByTime(299);
    answered(true);
    vi.advanceTimersByTime(60_000);
    expect(told).toEqual(['nothing']);
  });

  it('is shown after 300 ms, and as a long one after 8 s', () => {
    const answered = watch().begin();
    vi.advanceTimersByTime(300);
    expect(told).toEqual(['waiting']);
    vi.advanceTimersByTime(7_700);
    expect(told).toEqual(['waiting', 'slow']);
    answered(true);
    answered(true);
    expect(told).toEqual(['waiting', 'slow', 'nothing']);
  });

  it('ends with the last of several requests', () => {
    const waits = watch();
    const [one, other] = [waits.begin(), waits.begin()];
    vi.advanceTimersByTime(400);
    one(true);
    expect(told).toEqual(['waiting']);
    other(false);
    expect(told).toEqual(['waiting', 'lost']);
  });

  it('is for pages and actions, not for what is read ahead or by the page itself', () => {
    const asks = (headers: Record<string, string>) => isNavigation(new Headers(headers));
    expect(asks({ RSC: '1' })).toBe(true);
    expect(asks({ 'Next-Action': 'ab' })).toBe(true);
    expect(asks({ RSC: '1', 'Next-Router-Prefetch': '1' })).toBe(false);
    expect(asks({ RSC: '1', 'Next-Router-Segment-Prefetch': '/_tree' })).toBe(false);
    expect(asks({ Accept: 'application/json' })).toBe(false);
  });
});
