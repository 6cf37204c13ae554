import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usageOf } from '#lib/core/metering/usage';
import { apply } from '#lib/gateway/settlement/pure/apply';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import { counted, startOf } from '#lib/gateway/settlement/pure/quarter';
import { callOf, closeOf, refusedOf } from '#tests/support/settlement';

const one = { workspaceId: 'w1', keyId: 'k1' };
const noonMs = Date.UTC(2026, 5, 1, 12);
const call = (given: Partial<CallRecord> = {}) => callOf(one, { atMs: noonMs, ...given });

describe('what newly logged calls change', () => {
  it('says what of it the simulated provider answered (contract: money/simulated-money)', () => {
    const { workspaces } = apply([
      closeOf(call({ costNano: 20n, provider: 'sandbox' })),
      closeOf(call({ costNano: 5n })),
      closeOf(call({ costNano: 3n, provider: 'sandbox' }), 'row'),
    ]);
    expect(workspaces).toEqual([{ id: 'w1', spentNano: 28n, simulatedNano: 23n, calls: 3 }]);
  });

  it('is summed by workspace, key, lease, minute and quarter', () => {
    const later = { atMs: noonMs + 61_000, costNano: 5n, usage: usageOf({ input: 5, output: 3 }) };
    const effects = apply([
      closeOf(call({ costNano: 20n, usage: usageOf({ input: 7, cachedInput: 2, output: 3 }) })),
      closeOf(call(later)),
      closeOf(callOf({ workspaceId: 'w2', keyId: 'k2' }, { atMs: noonMs, costNano: 1n }), 'row'),
    ]);
    expect(effects.workspaces).toEqual([
      { id: 'w1', spentNano: 25n, simulatedNano: 0n, calls: 2 },
      { id: 'w2', spentNano: 1n, simulatedNano: 0n, calls: 1 },
    ]);
    expect(effects.keys).toEqual([
      { id: 'k1', spentNano: 25n, lastUsedMs: noonMs + 61_000 },
      { id: 'k2', spentNano: 1n, lastUsedMs: noonMs },
    ]);
    expect(effects.leases).toEqual([
      { kind: 'key', subjectId: 'k1', spentNano: 25n },
      { kind: 'workspace', subjectId: 'w1', spentNano: 25n },
    ]);
    expect(effects.minutes).toEqual([
      { keyId: 'k1', minuteMs: noonMs, spentNano: 20n },
      { keyId: 'k1', minuteMs: noonMs + 60_000, spentNano: 5n },
      { keyId: 'k2', minuteMs: noonMs, spentNano: 1n },
    ]);
    expect(effects.quarters).toHaveLength(2);
    expect(effects.quarters[0]).toMatchObject({
      ...one,
      quarterMs: noonMs,
      provider: 'openai',
      calls: 2,
      refused: 0,
      errors: {},
      attempts: 2,
      fallbacks: 0,
      used: usageOf({ input: 12, cachedInput: 2, output: 6 }),
      costNano: 25n,
    });
    expect(effects.quarters[0]?.latency.total).toBe(2);
  });

  it('keeps the latest use of a key, whatever the order of its calls', () => {
    const [early, late] = [closeOf(call()), closeOf(call({ atMs: noonMs + 10 }))];
    for (const entries of [
      [early, late],
      [late, early],
    ]) {
      expect(apply(entries).keys[0]?.lastUsedMs).toBe(noonMs + 10);
    }
  });

  it('is neither money nor a minute of a call that cost nothing, but a use of its key', () => {
    const effects = apply([closeOf(call({ costNano: 0n }))]);
    expect(effects).toMatchObject({ workspaces: [], leases: [], minutes: [] });
    expect(effects.keys).toEqual([{ id: 'k1', spentNano: 0n, lastUsedMs: noonMs }]);
    expect(effects.quarters).toMatchObject([{ calls: 1, costNano: 0n }]);
  });

  it('is one error of its quarter of a refused call, which uses no key and has no latency', () => {
    const effects = apply([refusedOf(one)]);
    expect(effects).toMatchObject({ workspaces: [], keys: [], leases: [], minutes: [] });
    expect(effects.quarters).toMatchObject([
      { calls: 1, refused: 1, errors: { limit: 1 }, latency: { total: 0 } },
    ]);
  });

  it.each([
    ['completed', 200, {}],
    ['client_gone', 200, {}],
    ['completed', 399, {}],
    ['completed', 400, { client: 1 }],
    ['client_gone', 499, { client: 1 }],
    ['completed', 401, { provider: 1 }],
    ['completed', 429, { provider: 1 }],
    ['completed', 502, { provider: 1 }],
    ['upstream_error', 502, { provider: 1 }],
    ['upstream_error', 200, { broken: 1 }],
    ['timeout', 200, { timeout: 1 }],
    ['timeout', 502, { timeout: 1 }],
    ['interrupted', 200, { broken: 1 }],
    ['refused', 400, { client: 1 }],
    ['refused', 402, { limit: 1 }],
    ['refused', 429, { limit: 1 }],
    ['refused', 502, { gateway: 1 }],
  ] as const)('counts a call that ended as %s with status %i as %j', (endReason, status, errors) => {
    expect(apply([closeOf(call({ endReason, status }))]).quarters[0]?.errors).toEqual(errors);
  });

  it('measures the latency of calls that came to an end of their own, and their first bytes', () => {
    const { quarters } = apply([
      closeOf(call({ latencyMs: 200, firstByteMs: null })),
      closeOf(call({ latencyMs: 300, firstByteMs: 30, endReason: 'client_gone' })),
      closeOf(call({ latencyMs: 9_000, endReason: 'interrupted' })),
    ]);
    expect(quarters).toMatchObject([{ calls: 3, latency: { total: 2 }, firstByte: { total: 1 } }]);
    expect(quarters[0]?.latency.quantile(1)).toBeLessThan(320);
  });

  it('counts attempts, and calls that needed another target', () => {
    const [attempt] = call().attempts;
    if (!attempt) throw new Error('the call has no attempt');
    const { quarters } = apply([
      closeOf(call({ attempts: [] })),
      closeOf(call()),
      closeOf(call({ attempts: [attempt, attempt, attempt] })),
    ]);
    expect(quarters).toMatchObject([{ attempts: 4, fallbacks: 1 }]);
  });

  it('keeps apart what differs in model, provider, key, workspace or quarter', () => {
    const entries = [
      call(),
      call({ answeringModel: 'acme/other' }),
      call({ provider: 'azure' }),
      call({ provider: null }),
      call({ atMs: noonMs + 900_000 }),
      call({ keyId: 'k2' }),
      call({ workspaceId: 'w2' }),
    ].map((one) => closeOf(one));
    const { quarters } = apply([...entries, ...entries.toReversed()]);
    expect(quarters.map(({ calls }) => calls)).toEqual(Array(7).fill(2));
    expect(quarters.filter(({ provider }) => provider === '')).toHaveLength(1);
  });

  it('comes in the order in which rows are locked, and adds up, in whatever order the calls are', () => {
    const entries = fc.array(
      fc.record({
        workspaceId: fc.constantFrom('w1', 'w2', 'w3'),
        keyId: fc.constantFrom('k1', 'k2'),
        atMs: fc.integer({ min: noonMs, max: noonMs + 7_200_000 }),
        costNano: fc.bigInt({ min: 0n, max: 50n }),
        provider: fc.constantFrom('a', 'b', null),
      }),
    );
    fc.assert(
      fc.property(entries, (list) => {
        const calls = list.map(({ workspaceId, keyId, ...rest }) => callOf({ workspaceId, keyId }, rest));
        const effects = apply(calls.map((one) => closeOf(one)));
        expect(apply(calls.toReversed().map((one) => closeOf(one)))).toEqual(effects);
        const owed = calls.reduce((sum, { costNano }) => sum + costNano, 0n);
        for (const rows of [effects.workspaces, effects.keys, effects.minutes]) {
          expect(rows.reduce((sum, { spentNano }) => sum + spentNano, 0n)).toBe(owed);
        }
        const ids = effects.workspaces.map(({ id }) => id);
        expect(ids).toEqual([...ids].sort());
        expect(effects.quarters.reduce((sum, { calls }) => sum + calls, 0)).toBe(calls.length);
        expect(effects.quarters.reduce((sum, { costNano }) => sum + costNano, 0n)).toBe(owed);
      }),
    );
  });
});

describe('a figure of the sums', () => {
  it.each([
    [0, 0],
    [7, 7],
    [-7, 0],
    [1.5, 0],
    [Number.NaN, 0],
    [1e12, 1e12],
    [1e12 + 1, 1e12],
  ])('%d counts as %d', (figure, wanted) => {
    expect(counted(figure)).toBe(wanted);
  });

  it('belongs to the minute or quarter in which its moment lies', () => {
    expect([startOf(59_999, 60_000), startOf(60_000, 60_000), startOf(60_001, 60_000)]).toEqual([
      0, 60_000, 60_000,
    ]);
  });
});

it('keeps what the gateway answers itself apart from the models (contract: call-log/own-answers)', () => {
  const own = { answeringModel: null, provider: null, attempts: [], costNano: 0n } as const;
  const modelOf = (given: Partial<CallRecord>) =>
    apply([closeOf(call({ ...own, ...given }), 'none')]).quarters.map(({ model }) => model);
  expect(modelOf({ family: 'models', requestedModel: null })).toEqual(['(gateway)']);
  expect(modelOf({ family: 'models', status: 429, endReason: 'refused' })).toEqual(['(gateway)']);
  expect(modelOf({ operation: 'messages.count_tokens' })).toEqual(['(gateway)']);
  expect(modelOf({ status: 402, endReason: 'refused' })).toEqual(['openai/gpt-4.1']);
  expect(modelOf({ status: 499, endReason: 'client_gone' })).toEqual(['openai/gpt-4.1']);
  expect(modelOf({ endReason: 'interrupted' })).toEqual(['openai/gpt-4.1']);
  expect(modelOf({ attempts: call().attempts })).toEqual(['openai/gpt-4.1']);
});
