import { describe, expect, it } from 'vitest';
import { ModelTally } from '#lib/gateway/metrics/model-tally';
import { callOf, newId } from '#tests/support/settlement';

const blankCall = () => callOf({ workspaceId: newId(), keyId: newId() }, { attempts: [] });

const attempt = (provider: string, model: string, status: number | null) => ({
  provider,
  model,
  status,
  error: null,
  startMs: 0,
  durationMs: 1,
  upstreamRequestId: null,
  credential: 'default',
  possibleDuplicate: false,
  providerCode: null,
  providerMessage: null,
});

describe('what calls come to by provider and model', () => {
  it('counts each attempt by its status, and those after the first as fallbacks', () => {
    const tally = new ModelTally();
    const attempts = [attempt('a', 'm', 529), attempt('a', 'm', null), attempt('b', 'm', 200)];
    tally.ended({ ...blankCall(), provider: 'b', answeringModel: 'm', attempts });
    const counts = tally
      .list()
      .map(({ provider, attempts, fallbacks }) => ({ provider, attempts, fallbacks }));
    expect(counts).toMatchObject([
      { provider: 'a', attempts: { '5xx': 1, none: 1, '2xx': 0 }, fallbacks: 1 },
      { provider: 'b', attempts: { '2xx': 1 }, fallbacks: 1 },
    ]);
  });

  it('counts no attempt that this machine could not make (contract: call-log/machine-faults)', () => {
    const tally = new ModelTally();
    const attempts = [{ ...attempt('a', 'm', null), error: 'machine_files' }];
    tally.ended({ ...blankCall(), provider: null, attempts });
    expect(tally.list()).toEqual([]);
  });

  it.each([
    [401, '401'],
    [403, '403'],
    [404, '4xx'],
    [429, '429'],
    [500, '5xx'],
    [529, '5xx'],
    [302, 'other'],
  ] as const)('an answer of status %i counts as %s', (status, kind) => {
    const tally = new ModelTally();
    tally.ended({ ...blankCall(), provider: null, attempts: [attempt('a', 'm', status)] });
    expect(tally.list()[0]?.attempts[kind]).toBe(1);
  });

  it('sums cost and tokens, and sorts times into buckets', () => {
    const tally = new ModelTally();
    const call = { ...blankCall(), provider: 'a', answeringModel: 'm', streamed: true };
    tally.ended({ ...call, costNano: 2_500n, latencyMs: 90, firstByteMs: 20 });
    tally.ended({ ...call, costNano: 500n, latencyMs: 400_000, firstByteMs: 120 });
    const [count] = tally.list();
    expect(count?.costNano).toBe(3_000);
    expect(count?.durations.sumMs).toBe(400_090);
    expect(count?.durations.buckets.at(0)).toBe(1);
    expect(count?.durations.buckets.at(-1)).toBe(1);
    expect(count?.firstBytes.buckets.slice(0, 2)).toEqual([1, 1]);
  });

  it('counts what is beyond a thousand models as other', () => {
    const tally = new ModelTally();
    for (let at = 0; at < 1_100; at += 1)
      tally.ended({ ...blankCall(), provider: null, attempts: [attempt('a', `m${at}`, 200)] });
    const counts = tally.list();
    expect(counts).toHaveLength(1_001);
    expect(counts.find(({ provider }) => provider === 'other')?.attempts['2xx']).toBe(100);
  });
});
