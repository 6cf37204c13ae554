import { expect, it } from 'vitest';
import { MemoryStore } from '#tests/support/limits/memory-store';
import { retryAlone } from '#tests/support/limits/retries';

it('a single retry after Retry-After is admitted, at any process (contract: limits/retry-after)', async () => {
  const seen = await retryAlone(200, (simulation) => new MemoryStore(() => simulation.nowMs));
  if (process.env.SHOW) process.stdout.write(`#${JSON.stringify(seen)}\n`);
  expect(seen.retries).toBeGreaterThan(150);
  expect(seen.admitted).toBe(seen.retries);
  expect(seen.overRequests).toBeLessThanOrEqual(0);
});
