import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Lasting, Renewed } from '#lib/gateway/clouds/renewed';

/** A token that lives for an hour, and what its issuer does. */
function stage() {
  const issuer = { asked: 0, down: false, waits: [] as (() => void)[], slow: false };
  const told: (string | null)[] = [];
  const state = { wanted: true };
  const renewed = new Renewed<string>({
    clock: { now: () => Date.now(), mono: () => Date.now() },
    fetch: async (): Promise<Lasting<string>> => {
      issuer.asked += 1;
      const name = `t${issuer.asked}`;
      if (issuer.slow) await new Promise<void>((resolve) => issuer.waits.push(resolve));
      if (issuer.down) throw new Error('down');
      return { value: name, untilMs: Date.now() + 3_600_000 };
    },
    wanted: () => state.wanted,
    told: (error) => told.push(error === null ? null : (error as Error).message),
  });
  return { renewed, issuer, told, state };
}

const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000);

describe('a token that is renewed (contract: families/cloud-credentials)', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is fetched once for all who wait, and given at once from then on', async () => {
    const { renewed, issuer } = stage();
    expect(await Promise.all([renewed.get(), renewed.get(), renewed.get()])).toEqual(['t1', 't1', 't1']);
    expect(renewed.get()).toBe('t1');
    expect(issuer.asked).toBe(1);
  });

  it('is renewed after three quarters of its life, while the old one is given', async () => {
    const { renewed, issuer } = stage();
    await renewed.get();
    issuer.slow = true;
    await minutes(46);
    expect(issuer.asked).toBe(2);
    expect(renewed.get()).toBe('t1');
    issuer.waits[0]?.();
    await minutes(0);
    expect(renewed.get()).toBe('t2');
  });

  it('survives an issuer that is down for a while, with growing pauses, and says so', async () => {
    const { renewed, issuer, told } = stage();
    await renewed.get();
    issuer.down = true;
    await minutes(55);
    expect(renewed.get()).toBe('t1');
    expect(issuer.asked).toBeGreaterThan(5);
    expect(issuer.asked).toBeLessThan(20);
    issuer.down = false;
    await minutes(2);
    expect(renewed.get()).not.toBe('t1');
    expect([told[0], told.at(-1)]).toEqual(['down', null]);
  });

  it('is waited for when it has ended; after a failure, the issuer is left alone for a moment', async () => {
    const { renewed, issuer } = stage();
    await renewed.get();
    issuer.down = true;
    await minutes(61);
    const before = issuer.asked;
    await expect(renewed.get()).rejects.toThrow('down');
    await expect(renewed.get()).rejects.toThrow('down');
    expect(issuer.asked - before).toBeLessThan(2);
    issuer.down = false;
    await minutes(2);
    expect(await renewed.get()).toMatch(/^t\d+$/);
  });

  it('is not renewed once it is not wanted', async () => {
    const { renewed, issuer, state } = stage();
    await renewed.get();
    state.wanted = false;
    await minutes(50);
    expect(issuer.asked).toBe(1);
  });

  it('is replaced once if its provider refuses it, but not right after it was fetched', async () => {
    const { renewed, issuer } = stage();
    await renewed.get();
    renewed.refused('t1');
    await minutes(2);
    expect(issuer.asked).toBe(1);
    renewed.refused('t1');
    renewed.refused('t1');
    await minutes(0);
    expect(renewed.get()).toBe('t2');
    renewed.refused('t1');
    await minutes(0);
    expect(issuer.asked).toBe(2);
  });
});
