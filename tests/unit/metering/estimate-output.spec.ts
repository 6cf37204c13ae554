import { expect, it } from 'vitest';
import { estimateOutputTokens } from '#lib/metering/estimate-output';

it('an output of which only its bytes are known has a token for four of them, rounded up', () => {
  expect([0, 1, 4, 5, 4_000_001].map(estimateOutputTokens)).toEqual([0, 1, 1, 2, 1_000_001]);
});
