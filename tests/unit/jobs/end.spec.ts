import { describe, expect, it } from 'vitest';
import { type UsageReport, usageOf } from '#lib/core/metering/usage';
import { endOf, type JobTerms } from '#lib/gateway/jobs/end';

const dollar = 1_000_000_000n;
const terms: JobTerms = {
  holdNano: 5n * dollar,
  removing: null,
  state: 'running',
  price: {
    base: { input: dollar, output: 4n * dollar },
    tiers: [],
    serviceTiers: { flex: { input: dollar / 2n, output: 2n * dollar } },
  },
  nestedPrices: [],
  model: { contextTokens: 1_000_000, maxOutputTokens: 100_000, output: ['text'] },
  choices: 1,
  serviceTier: null,
  serverTools: false,
  strict: false,
};

function endWith(report: Partial<UsageReport>, more: Partial<JobTerms> = {}) {
  const told = { usage: usageOf({ input: 1_000_000 }), serviceTier: null, nested: [], flags: [], ...report };
  return endOf(
    { kind: 'seen', sight: { state: 'completed', report: told, view: null } },
    { ...terms, ...more },
  );
}

describe('a job that completed (contract: jobs/charged-once)', () => {
  it('is charged at the service tier that its answer names', () => {
    expect(endWith({ serviceTier: 'flex' })).toMatchObject({ costNano: dollar / 2n, flags: [] });
    expect(endWith({ serviceTier: 'default' }, { serviceTier: 'flex' }).costNano).toBe(dollar);
    expect(endWith({ serviceTier: 'scale' })).toMatchObject({
      costNano: dollar,
      flags: ['unpriced_tier'],
      serviceTier: 'scale',
    });
  });

  it('is charged at the tier that was asked for if its answer names none', () => {
    expect(endWith({}, { serviceTier: 'flex' }).costNano).toBe(dollar / 2n);
  });

  it('is charged its hold if its usage cannot be read (contract: money/unreadable-usage)', () => {
    const unread = { usage: usageOf({ output: 5 }), unread: ['input'], flags: ['usage_unreadable'] } as const;
    expect(endWith(unread)).toMatchObject({
      costNano: terms.holdNano,
      usageSource: 'estimated',
      flags: ['usage_unreadable', 'job_unreported'],
    });
  });

  it('is charged up to what its model can do, ten times that with tools of the provider', () => {
    const absurd = { usage: usageOf({ input: 1e12 }) };
    expect(endWith(absurd)).toMatchObject({ costNano: (11n * dollar) / 10n, flags: ['usage_anomaly'] });
    expect(endWith(absurd, { serverTools: true }).costNano).toBe(11n * dollar);
    expect(endWith(absurd).usage.input).toBe(1e12);
  });
});

it('a job whose price version cannot be read is charged its hold, with what it used (contract: jobs/price-gone)', () => {
  const usage = usageOf({ input: 1_000_000 });
  expect(endWith({ usage }, { price: null })).toMatchObject({
    costNano: terms.holdNano,
    overHoldNano: 0n,
    usage,
    usageSource: 'estimated',
    lines: [],
    flags: ['job_unreported', 'job_unpriced'],
  });
});
