import { describe, expect, it } from 'vitest';
import { noCharge } from '#lib/gateway/flow/call/charge';
import { chargeInFull } from '#lib/gateway/flow/call/charge-call';

describe('an estimate above its hold, whose hold has grown (contract: money/estimate)', () => {
  it('an estimate whose hold has grown is charged in full, and no longer flagged as capped', () => {
    const charge = { ...noCharge, costNano: 5n, flags: ['usage_anomaly', 'strict_capped'] };
    const call = { holdNano: 5n, charge };
    chargeInFull(call, 8n);
    expect(call).toEqual({ holdNano: 8n, charge: { ...noCharge, costNano: 8n, flags: ['usage_anomaly'] } });
  });
});
