import { describe, expect, it } from 'vitest';
import { usageOf } from '#lib/core/metering/usage';
import { ChargeFlags } from '#lib/gateway/metrics/charge-flags';

const nowMs = 1_800_000_000_000;
const charge = {
  callId: 'call',
  provider: 'p',
  model: 'v/m',
  serviceTier: 'scale',
  usage: usageOf({ output: 1e12 }),
};

function book() {
  const told: (readonly [object, string])[] = [];
  return { told, flags: new ChargeFlags((fields, message) => told.push([fields, message])) };
}

describe('a flagged charge (contract: call-log/flags)', () => {
  it('a flagged charge is reported to the operator with the provider’s figures', () => {
    const { told, flags } = book();
    flags.charged({ ...charge, flags: ['unpriced_tier', 'usage_anomaly', 'usage_negative'] }, nowMs);
    const same = { callId: 'call', provider: 'p', model: 'v/m' };
    expect(told).toEqual([
      [{ ...same, flag: 'unpriced_tier', serviceTier: 'scale' }, expect.stringContaining('serviceTiers')],
      [{ ...same, flag: 'usage_anomaly', claimed: charge.usage }, expect.stringContaining('contextTokens')],
    ]);
  });

  it('a flagged charge is counted each time, and logged once a minute for each offer', () => {
    const { told, flags } = book();
    for (let second = 0; second < 120; second += 1) {
      flags.charged({ ...charge, flags: ['unpriced_tier'] }, nowMs + second * 1_000);
      flags.charged({ ...charge, provider: 'q', flags: ['unpriced_tier'] }, nowMs + second * 1_000);
    }
    expect(told).toHaveLength(4);
    expect(flags.counts().map(({ provider, count }) => [provider, count])).toEqual([
      ['p', 120],
      ['q', 120],
    ]);
  });
});
