import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BodyShare, createBodyBudget } from '#lib/gateway/flow/body-budget';
import { Pacer } from '#lib/gateway/flow/upload/pace';

const mebibyte = 1024 * 1024;
const total = 64 * mebibyte;
const small = 0.5 * mebibyte;

/** Grows a share; tells what became of it without waiting for it. */
function grow(share: BodyShare, bytes: number): { granted: boolean } {
  const told = { granted: false };
  const wait = share.grow(bytes);
  if (wait === null) told.granted = true;
  else
    wait.then(
      () => {
        told.granted = true;
      },
      () => {},
    );
  return told;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the budget of large bodies (contract: body/budget)', () => {
  it('gives one key a quarter for what it is receiving; completed bodies no longer count for it', async () => {
    const budget = createBodyBudget(total);
    const [first, second] = [budget.open('key', 10 * mebibyte), budget.open('key', 10 * mebibyte)];
    expect(grow(first, 10 * mebibyte).granted).toBe(true);
    const waiting = grow(second, 10 * mebibyte);
    expect(waiting.granted).toBe(false);
    expect(grow(budget.open('other', 10 * mebibyte), 10 * mebibyte).granted).toBe(true);
    first.received(10 * mebibyte);
    await settled();
    expect(waiting.granted).toBe(true);
  });

  it('reserves an eighth for bodies of up to 1 MiB', () => {
    const budget = createBodyBudget(total);
    for (let key = 0; key < 7; key++) {
      const share = budget.open(`key${key}`, 8 * mebibyte);
      expect(grow(share, 8 * mebibyte).granted).toBe(true);
      share.received(8 * mebibyte);
    }
    expect(grow(budget.open('large', 2 * mebibyte), 2 * mebibyte).granted).toBe(false);
    expect(grow(budget.open('small', small), small).granted).toBe(true);
  });

  it('accepts a body that is larger than the budget if it is alone', async () => {
    const budget = createBodyBudget(8 * mebibyte);
    const first = budget.open('key', 32 * mebibyte);
    expect(grow(first, 32 * mebibyte).granted).toBe(true);
    const second = grow(budget.open('other', 32 * mebibyte), 32 * mebibyte);
    expect(second.granted).toBe(false);
    first.release();
    await settled();
    expect(second.granted).toBe(true);
  });

  it('refuses a body that waited too long, and one that is released while it waits', async () => {
    const budget = createBodyBudget(mebibyte, 'memory', 20);
    expect(grow(budget.open('one', 2 * mebibyte), 2 * mebibyte).granted).toBe(true);
    const late = budget.open('two', 2 * mebibyte);
    const left = budget.open('three', 2 * mebibyte);
    const refused = expect(left.grow(2 * mebibyte)).rejects.toThrow('no memory left');
    left.release();
    await refused;
    await expect(late.grow(2 * mebibyte)).rejects.toMatchObject({
      refusal: { code: 'local_quota_not_configured' },
    });
  });

  it('lets no body that comes later go before a large body that waits', async () => {
    const budget = createBodyBudget(total);
    const held = Array.from({ length: 7 }, (_, key) => budget.open(`key${key}`, 8 * mebibyte));
    for (const share of held) expect(grow(share, 7 * mebibyte).granted).toBe(true);
    for (const share of held) share.received(7 * mebibyte);
    const large = grow(budget.open('large', 16 * mebibyte), 12 * mebibyte);
    expect(large.granted).toBe(false);
    const late = grow(budget.open('late', 2 * mebibyte), 2 * mebibyte);
    expect(late.granted).toBe(false);
    // What is reserved for small bodies is not what it waits for, but they get no more than that.
    const smalls = Array.from({ length: 20 }, (_, at) => grow(budget.open(`small${at}`, small), small));
    expect(smalls.map(({ granted }) => granted)).toEqual(smalls.map((_, at) => at < 16));
    held[0]?.release();
    await settled();
    expect([large.granted, late.granted]).toEqual([false, false]);
    held[1]?.release();
    await settled();
    expect(large.granted).toBe(true);
  });

  it('serves bodies that wait for the same room in the order in which they came', async () => {
    const budget = createBodyBudget(total);
    const first = budget.open('key', 16 * mebibyte);
    expect(grow(first, 15 * mebibyte).granted).toBe(true);
    const [large, later] = [budget.open('key', 8 * mebibyte), budget.open('key', 2 * mebibyte)];
    const waiting = [grow(large, 8 * mebibyte), grow(later, mebibyte)];
    const others = Array.from({ length: 4_000 }, () => grow(budget.open('key', 2 * mebibyte), mebibyte));
    // The body that holds something goes before those that hold nothing.
    expect(grow(first, 16 * mebibyte).granted).toBe(true);
    expect(waiting.map(({ granted }) => granted)).toEqual([false, false]);
    first.received(16 * mebibyte);
    await settled();
    expect(waiting.map(({ granted }) => granted)).toEqual([true, true]);
    expect(others.filter(({ granted }) => granted).length).toBeGreaterThan(0);
  });

  it('holds no body of another key back for a body that waits for the part of its own key', () => {
    const budget = createBodyBudget(total);
    expect(grow(budget.open('key', 12 * mebibyte), 12 * mebibyte).granted).toBe(true);
    expect(grow(budget.open('key', 8 * mebibyte), 8 * mebibyte).granted).toBe(false);
    expect(grow(budget.open('key', 2 * mebibyte), 2 * mebibyte).granted).toBe(false);
    expect(grow(budget.open('other', 2 * mebibyte), 2 * mebibyte).granted).toBe(true);
  });

  it('receives all bodies, in whatever steps they come, and never gives out more than there is', async () => {
    const bodies = fc.array(fc.record({ key: fc.nat(3), most: fc.integer({ min: 1, max: 20 }) }), {
      minLength: 1,
      maxLength: 30,
    });
    const run = fc.asyncProperty(bodies, fc.infiniteStream(fc.nat(1_000)), async (made, choices) => {
      const budget = createBodyBudget(total, 'memory', 60_000);
      const under = made.map(({ key, most }) => ({
        share: budget.open(`key${key}`, most * mebibyte),
        key,
        most,
        has: 0,
        asked: { granted: true },
        whole: false,
      }));
      for (let left = under.length; left > 0; ) {
        const open = under.filter(({ asked, whole }) => asked.granted && !whole);
        expect(open.length, 'somebody can go on').toBeGreaterThan(0);
        const one = open[(choices.next().value ?? 0) % open.length];
        if (!one) break;
        if (one.has < one.most) {
          one.has += 1;
          one.asked = grow(one.share, one.has * mebibyte);
        } else {
          one.whole = true;
          left -= 1;
          one.share.received(one.most * mebibyte);
          one.share.release();
        }
        await settled();
        const granted = under
          .filter(({ whole }) => !whole)
          .map((it) => ({ ...it, has: it.asked.granted ? it.has : it.has - 1 }));
        const sum = (list: typeof granted) => list.reduce((bytes, { has }) => bytes + has, 0);
        expect(sum(granted)).toBeLessThanOrEqual(64);
        for (const key of [0, 1, 2, 3]) {
          const own = granted.filter((it) => it.key === key && it.has > 0);
          if (own.length > 1) expect(sum(own)).toBeLessThanOrEqual(16 + 4);
        }
      }
    });
    await fc.assert(run, { numRuns: 60 });
  });
});

describe('the pace of a body (contract: body/pace)', () => {
  const pace = { stallMs: 300, windowMs: 100, windowBytes: 1_000 };

  it('a small body may arrive at any rate, but not stall', () => {
    const pacer = new Pacer(pace, 0);
    for (let at = 250; at < 5_000; at += 250) {
      pacer.came(1, at);
      expect(pacer.dueMono).toBe(at + 300);
    }
    expect(pacer.check(5_050)?.message).toContain('stalled');
  });

  it('a large body is checked in each window, without the time for which reading was paused', () => {
    const pacer = new Pacer(pace, 0);
    pacer.hurry(0);
    pacer.came(1_000, 90);
    expect(pacer.check(100)).toBeNull();
    pacer.came(600, 150);
    pacer.pause(160);
    expect(pacer.dueMono).toBe(Number.POSITIVE_INFINITY);
    pacer.resume(1_160);
    pacer.came(400, 1_190);
    expect(pacer.dueMono).toBe(1_200);
    expect(pacer.check(1_200)).toBeNull();
    pacer.came(999, 1_250);
    expect(pacer.check(1_300)?.message).toMatch(/arrived at less than 10 KiB\/s over 0\.1 s/);
  });

  it('a body that turns out large during a pause gets its minimum rate only from the end of the pause', () => {
    const pacer = new Pacer(pace, 0);
    pacer.came(500, 10);
    pacer.pause(20);
    pacer.hurry(30);
    expect(pacer.dueMono).toBe(Number.POSITIVE_INFINITY);
    pacer.resume(1_030);
    expect(pacer.dueMono).toBe(1_130);
  });
});
