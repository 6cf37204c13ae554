import { describe, expect, it } from 'vitest';
import { snapshotOf } from '#tests/support/admission';
import { cases, runCase } from '#tests/support/limits/matrix';
import { MemoryStore } from '#tests/support/limits/memory-store';

describe('limits that processes share, in simulated time (contract: limits/rpm, limits/permits)', () => {
  it.each(cases)(
    '$processes processes, $limit a minute, load $load, $arrivals: no minute has more, and 95 % of what is allowed passes',
    async (one) => {
      const snapshot = snapshotOf({ limits: { rpm: one.limit } });
      const seen = await runCase(one, snapshot, (simulation) => new MemoryStore(() => simulation.nowMs));
      if (process.env.SHOW) process.stdout.write(`#${JSON.stringify({ ...one, ...seen })}\n`);
      expect(seen.lost).toEqual([]);
      expect(seen.most).toBeLessThanOrEqual(one.limit);
      expect(seen.admitted).toBeGreaterThanOrEqual(seen.allowed * 0.95);
    },
  );
});
