import { describe, expect, it } from 'vitest';
import { aimedAt, failure } from '#tests/unit/routing/make';
import { open, playProviders, stream, streams, whole, wholes } from '#tests/unit/routing/play-providers';

const { state, run, trip } = playProviders();

describe('a probe (contract: routing/breaker)', () => {
  const [one] = streams;

  it('a probe puts its offer back in service at its first word; a break after it sets the offer aside for double the time', async () => {
    trip('a', Date.now() - 10_000);
    const { answer } = await run(one, { a: open(one.silent + one.word), b: stream(one.word + one.end) });
    expect(state.health.of('m@a')).toMatchObject({ tripped: false, failures: 5, openUntilMs: 0 });
    const nowMs = Date.now();
    answer?.running?.failed(failure(), nowMs);
    expect(state.health.of('m@a')).toMatchObject({ tripped: true, openUntilMs: nowMs + 20_000 });
    answer?.exchange.abort(new Error('the test is over'));
  });

  it('events that say nothing do not put the offer of a probe back in service', async () => {
    trip('a', Date.now() - 10_000);
    const { answer, place } = await run(one, { a: open(one.silent) });
    expect([place, state.health.of('m@a').tripped]).toEqual(['a', true]);
    answer?.exchange.abort(new Error('the test is over'));
  });

  it('a whole answer of a probe puts its offer back in service only at its end', async () => {
    trip('a', Date.now() - 10_000);
    const [own] = wholes;
    const { answer } = await run(own, { a: whole(JSON.stringify(own.good)) });
    expect(state.health.of('m@a').tripped).toBe(true);
    answer?.running?.succeeded(1, false, Date.now());
    expect(state.health.of('m@a').tripped).toBe(false);
  });

  it('five answers that say nothing set their offer aside, and calls go past it', async () => {
    for (let calls = 0; calls < 5; calls += 1) {
      await run(one, { a: stream(one.silent), b: stream(one.word + one.end) });
      state.number += 1;
    }
    expect(state.health.isAside(aimedAt('m@a'), Date.now())).toBe(true);
    state.arrived = [];
    const { place } = await run(one, { a: stream(one.silent), b: stream(one.word + one.end) });
    expect([place, state.arrived]).toEqual(['b', ['b']]);
  });
});
