import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usageOf } from '#lib/metering/usage';
import { apply, counted, startOf } from '#lib/settlement/apply';
import type { CallRecord } from '#lib/settlement/entry';
import { callOf, closeOf, refusedOf } from '#tests/support/settlement';

const one = { workspaceId: 'w1', keyId: 'k1' };
const noonMs = Date.UTC(2026, 5, 1, 12);
const call = (given: Partial<CallRecord> = {}) => callOf(one, { atMs: noonMs, ...given });

describe('what newly logged calls change', () => {
  it('is summed by workspace, key, lease, minute and hour', () => {
    const later = { atMs: noonMs + 61_000, costNano: 5n, usage: usageOf({ input: 5, output: 3 }) };
    const effects = apply([
      closeOf(call({ costNano: 20n, usage: usageOf({ input: 7, cachedInput: 2, output: 3 }) })),
      closeOf(call(later)),
      closeOf(callOf({ workspaceId: 'w2', keyId: 'k2' }, { atMs: noonMs, costNano: 1n }), 'row'),
    ]);
    expect(effects.workspaces).toEqual([
      { id: 'w1', spentNano: 25n, calls: 2 },
      { id: 'w2', spentNano: 1n, calls: 1 },
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
    expect(effects.hours).toHaveLength(2);
    expect(effects.hours[0]).toMatchObject({
      ...one,
      hourMs: noonMs,
      provider: 'openai',
      calls: 2,
      errors: 0,
      inputTokens: 12,
      cachedTokens: 2,
      outputTokens: 6,
      costNano: 25n,
    });
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
    expect(effects.hours).toMatchObject([{ calls: 1, costNano: 0n }]);
  });

  it('is one error of its hour of a refused call, which uses no key', () => {
    const effects = apply([refusedOf(one)]);
    expect(effects).toMatchObject({ workspaces: [], keys: [], leases: [], minutes: [] });
    expect(effects.hours).toMatchObject([{ calls: 1, errors: 1 }]);
  });

  it.each([
    ['completed', 200, 0],
    ['client_gone', 200, 0],
    ['completed', 399, 0],
    ['completed', 400, 1],
    ['completed', 502, 1],
    ['upstream_error', 200, 1],
    ['timeout', 200, 1],
    ['interrupted', 200, 1],
  ] as const)('counts a call that ended as %s with status %i as %i errors', (endReason, status, errors) => {
    expect(apply([closeOf(call({ endReason, status }))]).hours).toMatchObject([{ calls: 1, errors }]);
  });

  it('keeps apart what differs in model, provider, key, workspace or hour', () => {
    const entries = [
      call(),
      call({ answeringModel: 'acme/other' }),
      call({ provider: 'azure' }),
      call({ provider: null }),
      call({ atMs: noonMs + 3_600_000 }),
      call({ keyId: 'k2' }),
      call({ workspaceId: 'w2' }),
    ].map((one) => closeOf(one));
    const { hours } = apply([...entries, ...entries.toReversed()]);
    expect(hours.map(({ calls }) => calls)).toEqual(Array(7).fill(2));
    expect(hours.filter(({ provider }) => provider === '')).toHaveLength(1);
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
        expect(effects.hours.reduce((sum, { calls }) => sum + calls, 0)).toBe(calls.length);
        expect(effects.hours.reduce((sum, { costNano }) => sum + costNano, 0n)).toBe(owed);
      }),
    );
  });
});

describe('a figure of the sums by hour', () => {
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

  it('belongs to the minute and hour in which its moment lies', () => {
    expect([startOf(59_999, 60_000), startOf(60_000, 60_000), startOf(60_001, 60_000)]).toEqual([
      0, 60_000, 60_000,
    ]);
  });
});
