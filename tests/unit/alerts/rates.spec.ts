import { describe, expect, it } from 'vitest';
import { type Look, minuteBetween, nearLimits, type RateLimits } from '#lib/control/alerts/rates';

const sum = (calls: number, tokens: number, quarter = '12:00', key = 'k') => ({
  workspace: 'w',
  key,
  quarter,
  calls,
  tokens,
});
const look = (atMs: number, ...sums: Look['sums']): Look => ({ atMs, sums });

describe('what a minute used (contract: control-plane/alerts)', () => {
  it('is what was added between two looks, of a key and of its workspace, whatever lies between them', () => {
    const before = look(0, sum(100, 5_000), sum(7, 70, '12:00', 'other'));
    const now = look(90_000, sum(160, 8_000), sum(7, 70, '12:00', 'other'), sum(30, 0, '12:15'));
    expect(Object.fromEntries(minuteBetween(before, now))).toEqual({
      w: { calls: 60, tokens: 2_000 },
      k: { calls: 60, tokens: 2_000 },
    });
  });

  it('is nothing where a quarter has left the sums', () => {
    expect(minuteBetween(look(0, sum(100, 5_000)), look(60_000)).size).toBe(0);
  });
});

describe('a limit is reported from 80% on (contract: control-plane/alerts)', () => {
  const limits = (part: Partial<RateLimits>): RateLimits => ({
    workspace: 'w',
    key: null,
    name: 'the workspace',
    rpm: null,
    tpm: null,
    concurrency: null,
    ...part,
  });
  const near = (part: Partial<RateLimits>, calls: number, tokens: number, running = 0) =>
    nearLimits(
      [limits(part)],
      new Map([
        ['w', { calls, tokens }],
        ['k', { calls, tokens }],
      ]),
      new Map([['w', running]]),
    ).map(({ subject, facts }) => [subject, facts.level]);

  it.each([
    ['requests', { rpm: 10 }, 7.9, 0, 0, []],
    ['requests', { rpm: 10 }, 8, 0, 0, [['rate w the limit of requests a minute', 80]]],
    ['tokens', { tpm: 1_000 }, 1, 799, 0, []],
    ['tokens', { tpm: 1_000 }, 1, 800, 0, [['rate w the limit of tokens a minute', 80]]],
    ['concurrent calls', { concurrency: 5 }, 1, 1, 3, []],
    ['concurrent calls', { concurrency: 5 }, 1, 1, 4, [['rate w the limit of concurrent calls', 80]]],
    ['no limit', {}, 1e9, 1e9, 1e9, []],
    ['those of a key', { key: 'k', rpm: 10 }, 9, 0, 0, [['rate k the limit of requests a minute', 80]]],
  ] as const)('%s: %j', (_name, part, calls, tokens, running, found) => {
    expect(near(part, calls, tokens, running)).toEqual(found);
  });
});
