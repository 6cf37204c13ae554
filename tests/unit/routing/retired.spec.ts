import { describe, expect, it } from 'vitest';
import { endOfDay, retirementDay } from '#lib/core/facts/retired';
import { listOffers } from '#lib/gateway/metrics/offers';
import { createHealth } from '#lib/gateway/routing/breaker';
import { explain } from '#lib/gateway/routing/explain';
import { isAvailable, listRoutable } from '#lib/gateway/routing/pure/exclude';
import { checkNested } from '#lib/gateway/routing/pure/nested';
import { plan } from '#lib/gateway/routing/pure/plan';
import { aimedAt, askOf, catalogueOf, inputOf, keeper, modelOf, offerAt } from '#tests/unit/routing/make';

const midnightMs = Date.UTC(2026, 9, 24);
const gone = { servedUntilMs: endOfDay('2026-10-23') };
const two = catalogueOf(modelOf('m', [offerAt('a', 'm', gone), offerAt('b')]));
const alone = catalogueOf(modelOf('m', [offerAt('a', 'm', gone)]), modelOf('n', [offerAt('b', 'n')]));
const offersAt = (nowMs: number, part: Parameters<typeof inputOf>[0] = {}) =>
  plan(inputOf({ catalogue: two, nowMs, ...part })).targets.map(({ offer }) => offer.id);

describe('an offer that its provider stops serving (contract: routing/retired)', () => {
  it('an offer is called until its last day has ended in UTC, and not a millisecond longer', () => {
    expect(offersAt(midnightMs - 1)).toEqual(['m@a', 'm@b']);
    expect(offersAt(midnightMs)).toEqual(['m@b']);
    expect(retirementDay(gone)).toBe('2026-10-23');
  });

  it('a retired offer is not in the lists of callable models', () => {
    const [first] = two.models.get('m')?.offers ?? [];
    if (!first) throw new Error('the model has offers');
    expect([isAvailable(first, midnightMs - 1), isAvailable(first, midnightMs)]).toEqual([true, false]);
    expect([...listRoutable(alone, 'chat', midnightMs - 1)]).toEqual(['m', 'n']);
    expect([...listRoutable(alone, 'chat', midnightMs)]).toEqual(['n']);
  });

  it('a retired offer is not in the health lists, even if it was tried', () => {
    const health = createHealth();
    health.begin(aimedAt('m@a'), midnightMs - 1, false);
    health.begin(aimedAt('m@b'), midnightMs - 1, false);
    const shownAt = (nowMs: number) => listOffers(two, health, nowMs).map(({ provider }) => provider);
    expect(shownAt(midnightMs - 1)).toEqual(['a', 'b']);
    expect(shownAt(midnightMs)).toEqual(['b']);
  });

  it('retirement is the first reason in an explanation', () => {
    const policy = { ignore: ['a'] };
    const { skipped } = explain(inputOf({ catalogue: two, nowMs: midnightMs, policy }));
    expect(skipped).toEqual([{ provider: 'a', model: 'm', why: 'retired on 2026-10-23' }]);
  });

  it('a call of a retired model goes to a fallback model', () => {
    const policy = { fallbackModels: ['n'] };
    expect(offersAt(midnightMs, { catalogue: alone, policy })).toEqual(['n@b']);
  });

  it('a call of a retired model without a fallback is refused with the day, so that the client can fix it', () => {
    const { failure } = plan(inputOf({ catalogue: alone, nowMs: midnightMs }));
    expect(failure).toMatchObject({
      code: 'model_not_allowed',
      message: 'Model m is retired (a retired on 2026-10-23); choose another model from GET /v1/models.',
    });
  });

  it('retirement is named also if the call is bound to the provider, or if other offers have another family', () => {
    const other = offerAt('b', 'm', { families: new Set(['messages']) });
    const catalogue = catalogueOf(modelOf('m', [offerAt('a', 'm', gone), other]));
    for (const pinned of [null, keeper('a')]) {
      const { failure } = plan(inputOf({ catalogue, nowMs: midnightMs, pinned }));
      expect(failure?.code).toBe('model_not_allowed');
      expect(failure?.message).toContain('a retired on 2026-10-23');
    }
  });

  it('it stays the operator’s fault if another offer only lacks its credential', () => {
    const b = offerAt('b');
    const keyless = { ...b, provider: { ...b.provider, credentials: [] } };
    const catalogue = catalogueOf(modelOf('m', [offerAt('a', 'm', gone), keyless]));
    expect(plan(inputOf({ catalogue, nowMs: midnightMs })).failure?.code).toBe('missing_upstream_base_url');
  });

  it('a retired offer does not serve nested models', () => {
    const catalogue = catalogueOf(modelOf('m', [offerAt('a')]), modelOf('n', [offerAt('a', 'n', gone)]));
    const at = {
      path: 'n',
      spelling: 'n',
      type: 'string' as const,
      value: 'n',
      start: 0,
      end: 0,
      empty: false,
    };
    const ask = { ...askOf(), nested: [{ slug: 'n', at }] };
    const refusedAt = (nowMs: number) => checkNested(ask, inputOf({ catalogue, nowMs }))?.code;
    expect([refusedAt(midnightMs - 1), refusedAt(midnightMs)]).toEqual([undefined, 'model_not_allowed']);
    expect(offersAt(midnightMs, { catalogue, ask })).toEqual([]);
  });
});
