import { describe, expect, it } from 'vitest';
import { chargeInFull } from '#lib/gateway/charge';

describe('an estimate above its hold, whose hold has grown (contract: money/estimate)', () => {
  it('is charged in full, and no longer flagged as capped', () => {
    const call = { holdNano: 5n, costNano: 5n, flags: ['usage_anomaly', 'strict_capped'] };
    chargeInFull(call, 8n);
    expect(call).toEqual({ holdNano: 8n, costNano: 8n, flags: ['usage_anomaly'] });
  });
});
