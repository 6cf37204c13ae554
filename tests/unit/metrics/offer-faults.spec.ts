import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { Fault } from '#lib/core/families/reading/fault';
import { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import { registerOfferFaults } from '#lib/programs/metrics/offer-metrics';

const gone: Fault = { whose: 'operator', kind: 'model_gone', waitMs: null, code: null, message: null };
const empty: Fault = { whose: 'operator', kind: 'quota', waitMs: null, code: null, message: null };
const busy: Fault = { whose: 'provider', kind: 'overload', waitMs: null, code: null, message: null };
const wrong: Fault = { whose: 'client', kind: 'invalid_request', waitMs: null, code: null, message: null };

const called = { callId: 'c', provider: 'p', credential: 'default' };

function open() {
  const told: object[] = [];
  const faults = new OfferFaults((fields) => told.push(fields));
  const fail = (fault: Fault, model = 'm') => faults.failed({ ...called, model, status: 404, fault });
  return { faults, fail, told };
}

describe('faults of offers (contract: routing/faults-shown)', () => {
  it('are logged once for each offer if they are the operator’s, and when the kind changes', () => {
    const { fail, told } = open();
    for (const fault of [gone, gone, empty, empty]) fail(fault);
    fail(gone, 'other');
    expect(told).toEqual([
      { ...called, model: 'm', kind: 'model_gone', status: 404 },
      { ...called, model: 'm', kind: 'quota', status: 404 },
      { ...called, model: 'other', kind: 'model_gone', status: 404 },
    ]);
  });

  it('are logged again after the offer has answered', () => {
    const { faults, fail, told } = open();
    fail(gone);
    faults.answered({ provider: 'p', model: 'm', credential: 'default' });
    fail(gone);
    expect(told).toHaveLength(2);
  });

  it('are not logged if they are the provider’s or the client’s, and counted unless they are the client’s', async () => {
    const { faults, fail, told } = open();
    for (const fault of [busy, busy, wrong]) fail(fault);
    expect(told).toEqual([]);
    fail(gone);
    const registry = new Registry();
    registerOfferFaults(registry, faults);
    const text = await registry.metrics();
    expect(text).toContain(
      'gateway_offer_faults_total{model="m",provider="p",credential="default",kind="overload"} 2',
    );
    expect(text).toContain(
      'gateway_offer_faults_total{model="m",provider="p",credential="default",kind="model_gone"} 1',
    );
    expect(text).not.toContain('invalid_request');
  });
});
