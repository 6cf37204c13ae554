import { describe, expect, it } from 'vitest';
import { estimateOutputTokens, estimateWorkedTokens } from '#lib/core/metering/estimate-output';

it('output of which only the bytes are known counts as a token for every four, rounded up', () => {
  expect([0, 1, 4, 5, 4_000_001].map(estimateOutputTokens)).toEqual([0, 1, 1, 2, 1_000_001]);
});

describe('what a model made by the time that it worked (contract: money/hidden-reasoning)', () => {
  const made = (part: Partial<Parameters<typeof estimateWorkedTokens>[0]>) =>
    estimateWorkedTokens({ workedMs: 10_000, tokensPerSecond: null, mostTokens: 0, ...part });

  it('a working model makes 50 tokens a second until its offer has been observed, then its speed counts', () => {
    expect(made({})).toBe(500);
    expect(made({ tokensPerSecond: 120.5 })).toBe(1_205);
  });

  it('worked tokens never exceed what the request, its key or the model allow', () => {
    expect(made({ mostTokens: 499 })).toBe(499);
    expect(made({ mostTokens: 501 })).toBe(500);
  });

  it('no tokens are assumed before the request was sent', () => {
    expect(made({ workedMs: 0 })).toBe(0);
    expect(made({ workedMs: 19 })).toBe(0);
  });
});
