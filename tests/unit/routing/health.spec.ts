import { describe, expect, it } from 'vitest';
import { createHealth } from '#lib/gateway/routing/breaker';
import { type Health, offerState } from '#lib/gateway/routing/health';
import { aimedAt, failure } from '#tests/unit/routing/make';

const t0 = 1_800_000_000_000;

function begin(health: Health, nowMs: number, further = false) {
  const running = health.begin(aimedAt('o'), nowMs, further);
  if (!running) throw new Error('the retry budget is used up');
  return running;
}

function fail(health: Health, times: number, nowMs: number, retryAfterMs: number | null = null): void {
  for (let at = 0; at < times; at += 1) {
    const running = begin(health, nowMs);
    running.failed(failure(retryAfterMs), nowMs);
    running.over();
  }
}

function succeed(health: Health, nowMs: number, firstByteMs = 100): void {
  const running = begin(health, nowMs);
  running.succeeded(firstByteMs, true, nowMs);
  running.over();
}

describe('the breaker (contract: routing/breaker)', () => {
  it('the breaker sets an offer aside for 10 s after the fifth failure in a row', () => {
    const health = createHealth();
    fail(health, 4, t0);
    succeed(health, t0);
    fail(health, 4, t0);
    expect(health.isAside(aimedAt('o'), t0)).toBe(false);
    fail(health, 1, t0);
    expect(health.isAside(aimedAt('o'), t0 + 9_999)).toBe(true);
    expect(health.isAside(aimedAt('o'), t0 + 10_000)).toBe(false);
  });

  it('each process has its own breakers: an offer that failed in one is still tried by another (contract: routing/health-is-local)', () => {
    const [own, other] = [createHealth(), createHealth()];
    fail(own, 5, t0);
    expect([own, other].map((health) => offerState(health.of('o'), t0))).toEqual(['set aside', 'in service']);
  });

  it('after that time exactly one attempt is let through, and its success closes the breaker', () => {
    const health = createHealth();
    fail(health, 5, t0);
    const probe = begin(health, t0 + 10_000);
    expect(health.isAside(aimedAt('o'), t0 + 10_000)).toBe(true);
    probe.succeeded(100, true, t0 + 10_050);
    probe.over();
    expect(health.isAside(aimedAt('o'), t0 + 10_050)).toBe(false);
    expect(health.of('o')).toMatchObject({ failures: 0, openUntilMs: 0, running: 0 });
  });

  it('every failed probe doubles the time, up to five minutes; after a success it is 10 s again', () => {
    const health = createHealth();
    fail(health, 5, t0);
    let nowMs = t0 + 10_000;
    for (const seconds of [20, 40, 80, 160, 300, 300]) {
      fail(health, 1, nowMs);
      expect(health.of('o').openUntilMs).toBe(nowMs + seconds * 1_000);
      nowMs += seconds * 1_000;
    }
    succeed(health, nowMs);
    fail(health, 5, nowMs);
    expect(health.of('o').openUntilMs).toBe(nowMs + 10_000);
  });

  it('a burst of failures that started before the breaker opened counts once', () => {
    const health = createHealth();
    const burst = Array.from({ length: 50 }, () => begin(health, t0));
    for (const running of burst) running.failed(failure(), t0 + 100);
    expect(health.of('o').openUntilMs).toBe(t0 + 10_100);
  });

  it('if the client of a probe leaves, the next attempt is the probe', () => {
    const health = createHealth();
    fail(health, 5, t0);
    begin(health, t0 + 10_000).abandoned(t0 + 10_500);
    expect(health.isAside(aimedAt('o'), t0 + 10_500)).toBe(false);
  });

  it('another probe follows one that hangs for as long as the offer was set aside', () => {
    const health = createHealth();
    fail(health, 5, t0);
    begin(health, t0 + 10_000);
    expect(health.isAside(aimedAt('o'), t0 + 19_999)).toBe(true);
    expect(health.isAside(aimedAt('o'), t0 + 20_000)).toBe(false);
  });

  it('the first word of a probe puts its offer back in service, however long that answer takes', () => {
    const health = createHealth();
    fail(health, 5, t0);
    const probe = begin(health, t0 + 10_000);
    expect(health.isAside(aimedAt('o'), t0 + 10_100)).toBe(true);
    probe.spoke();
    expect(health.of('o')).toMatchObject({ tripped: false, openUntilMs: 0, failures: 5, running: 1 });
    probe.succeeded(100, true, t0 + 600_000);
    fail(health, 4, t0 + 600_000);
    expect(health.isAside(aimedAt('o'), t0 + 600_000)).toBe(false);
  });

  it('an offer is set aside again, for double the time, when its probe breaks after its first word', () => {
    const health = createHealth();
    fail(health, 5, t0);
    let nowMs = t0 + 10_000;
    for (const seconds of [20, 40, 80, 160, 300, 300]) {
      const probe = begin(health, nowMs);
      probe.spoke();
      expect(health.isAside(aimedAt('o'), nowMs)).toBe(false);
      probe.failed(failure(), nowMs + 50);
      probe.over();
      expect(health.of('o')).toMatchObject({ tripped: true, openUntilMs: nowMs + 50 + seconds * 1_000 });
      nowMs += 50 + seconds * 1_000;
    }
  });

  it('only the first word of the probe ends the time aside, not those of earlier attempts', () => {
    const health = createHealth();
    const earlier = begin(health, t0);
    fail(health, 5, t0);
    earlier.spoke();
    expect(health.of('o')).toMatchObject({ tripped: true, openUntilMs: t0 + 10_000 });
    const probe = begin(health, t0 + 10_000);
    earlier.spoke();
    expect(health.isAside(aimedAt('o'), t0 + 10_000)).toBe(true);
    probe.failed(failure(), t0 + 10_000);
    probe.spoke();
    earlier.succeeded(100, true, t0 + 10_001);
    expect(health.isAside(aimedAt('o'), t0 + 10_001)).toBe(false);
  });

  it('five answers in a row that broke after their beginning set an offer aside', () => {
    const health = createHealth();
    const broken = Array.from({ length: 5 }, () => begin(health, t0));
    for (const running of broken) running.spoke();
    expect(health.of('o')).toMatchObject({ failures: 0, errorRate: 0 });
    broken.forEach((running, at) => {
      expect(health.isAside(aimedAt('o'), t0 + at)).toBe(false);
      running.failed(failure(), t0 + at);
      running.over();
    });
    expect(health.of('o')).toMatchObject({ failures: 5, openUntilMs: t0 + 10_004, running: 0 });
  });

  it('an answer whose client left counts for nothing: a success before and a failure after count', () => {
    const health = createHealth();
    fail(health, 4, t0);
    const left = begin(health, t0);
    left.spoke();
    left.abandoned(t0 + 10);
    left.over();
    expect(health.of('o')).toMatchObject({ failures: 4, openUntilMs: 0 });
    fail(health, 1, t0 + 20);
    expect(health.isAside(aimedAt('o'), t0 + 20)).toBe(true);
  });

  it('the state of an offer is shown from the time aside to the attempt that decides', () => {
    const health = createHealth();
    const stateAt = (nowMs: number) => offerState(health.of('o'), nowMs);
    expect(stateAt(t0)).toBe('in service');
    fail(health, 5, t0);
    expect([stateAt(t0 + 9_999), stateAt(t0 + 10_000)]).toEqual(['set aside', 'probing']);
    const failing = begin(health, t0 + 10_000);
    expect(stateAt(t0 + 10_100)).toBe('probing');
    failing.failed(failure(), t0 + 10_100);
    failing.over();
    expect([stateAt(t0 + 10_101), stateAt(t0 + 30_100)]).toEqual(['set aside', 'probing']);
    const healing = begin(health, t0 + 30_100);
    healing.succeeded(100, true, t0 + 30_200);
    // Its answer may be relayed for minutes yet.
    expect(stateAt(t0 + 30_200)).toBe('in service');
    fail(health, 1, t0 + 30_300, 2_000);
    expect([stateAt(t0 + 30_300), stateAt(t0 + 32_300)]).toEqual(['set aside', 'in service']);
  });

  it("a 429's Retry-After sets an offer aside, which a success in the meantime does not shorten", () => {
    const health = createHealth();
    fail(health, 1, t0, 7_000);
    succeed(health, t0 + 10);
    expect(health.isAside(aimedAt('o'), t0 + 6_999)).toBe(true);
    expect(health.isAside(aimedAt('o'), t0 + 7_000)).toBe(false);
  });

  it('a Retry-After is respected up to a day', () => {
    const health = createHealth();
    fail(health, 1, t0, 1e12);
    expect(health.of('o').openUntilMs).toBe(t0 + 86_400_000);
  });
});

describe('the retry budget (contract: routing/further-fallbacks)', () => {
  it('the retry budget allows ten further fallbacks at once, and one more as soon as one is over', () => {
    const health = createHealth();
    const running = Array.from({ length: 10 }, () => begin(health, t0, true));
    expect(health.begin(aimedAt('o'), t0, true)).toBeNull();
    expect(health.begin(aimedAt('o'), t0, false)).not.toBeNull();
    running[0]?.over();
    running[0]?.over();
    expect(health.begin(aimedAt('o'), t0, true)).not.toBeNull();
    expect(health.begin(aimedAt('o'), t0, true)).toBeNull();
  });

  it('the retry budget grows with the running attempts: it is a fifth of them', () => {
    const health = createHealth();
    for (let at = 0; at < 100; at += 1) begin(health, t0);
    let further = 0;
    while (health.begin(aimedAt('o'), t0, true)) further += 1;
    // A fifth of the 124 that run then, further ones included, is 24.8.
    expect(further).toBe(24);
  });
});

describe('figures', () => {
  it('figures of streams and of whole answers are smoothed separately', () => {
    const health = createHealth();
    succeed(health, t0, 100);
    succeed(health, t0 + 5, 200);
    begin(health, t0).succeeded(5_000, false, t0 + 6);
    expect(health.of('o').streamFirstByteMs).toEqual({ value: 120, atMs: t0 + 5 });
    expect(health.of('o').wholeMs).toEqual({ value: 5_000, atMs: t0 + 6 });
  });

  it('speed and cache share are learned from finished answers', () => {
    const health = createHealth();
    health.measured('o', { outputTokens: 50, tookMs: 500, inputTokens: 100, cachedTokens: 50 }, t0);
    expect(health.of('o')).toMatchObject({ tokensPerSecond: { value: 100 }, cachedShare: 0.1 });
    health.measured('o', { outputTokens: 0, tookMs: 0, inputTokens: 0, cachedTokens: 0 }, t0);
    expect(health.of('o')).toMatchObject({ tokensPerSecond: { value: 100 }, cachedShare: 0.1 });
  });

  it('the speed of an answer is weighted by its length: many short ones do not hide a long one', () => {
    const health = createHealth();
    const measure = (outputTokens: number, tookMs: number) =>
      health.measured('o', { outputTokens, tookMs, inputTokens: 0, cachedTokens: 0 }, t0);
    measure(1_000, 10_000);
    for (let times = 0; times < 3; times += 1) measure(1, 500);
    expect(health.of('o').tokensPerSecond.value).toBeGreaterThan(75);
    for (let times = 0; times < 20; times += 1) measure(400, 2_000);
    expect(health.of('o').tokensPerSecond.value).toBeCloseTo(200, -1);
  });

  it('every offer that was tried is listed, with its error rate and its running attempts', () => {
    const health = createHealth();
    fail(health, 1, t0);
    begin(health, t0);
    health.begin(aimedAt('other'), t0, false);
    expect(health.list()).toEqual([
      expect.objectContaining({ offerId: 'o', failures: 1, running: 1, errorRate: 0.2, openUntilMs: 0 }),
      expect.objectContaining({ offerId: 'other', running: 1 }),
    ]);
    expect(health.of('never')).toMatchObject({ running: 0, openUntilMs: 0 });
  });
});
