import { describe, expect, it } from 'vitest';
import { estimateInputTokens, estimateOutputTokens } from '#lib/metering/estimate-output';

const nothing = { textBytes: 0, images: 0, audioVideoBytes: 0, fileBytes: 0, searchTools: 0 };

describe('an estimate without reported usage', () => {
  it('takes four bytes of text for a token, rounded up', () => {
    expect([0, 1, 4, 5].map(estimateOutputTokens)).toEqual([0, 1, 1, 2]);
    expect(estimateInputTokens({ ...nothing, textBytes: 401 }, 1_000)).toBe(101);
  });

  it('weighs media as the hold does, a file at most as the context', () => {
    expect(estimateInputTokens({ ...nothing, images: 2, audioVideoBytes: 801 }, 1_000)).toBe(5_003);
    expect(estimateInputTokens({ ...nothing, fileBytes: 301 }, 1_000)).toBe(101);
    expect(estimateInputTokens({ ...nothing, fileBytes: 90_000 }, 1_000)).toBe(1_000);
    expect(estimateInputTokens({ ...nothing, searchTools: 9 }, 1_000)).toBe(0);
  });
});
