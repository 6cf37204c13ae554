import { describe, expect, it } from 'vitest';
import { snapshotOf } from '#tests/support/admission';
import { cases, runCase } from '#tests/support/limits/matrix';
import { MemoryStore } from '#tests/support/limits/memory-store';
import type { Simulation } from '#tests/support/limits/simulation';

describe('limits that processes share, in simulated time (contract: limits/rpm, limits/permits)', () => {
  it.each(cases)(
    '$processes processes, $limit a minute, load $load, $arrivals: no minute has more, and 95% of what is allowed passes',
    async (one) => {
      const snapshot = snapshotOf({ limits: { rpm: one.limit } });
      const open = (simulation: Simulation) => new MemoryStore(() => simulation.nowMs);
      // As long as a delay that adds up at each edge needs to show.
      const seen = await runCase(one, snapshot, open, { minutes: 6 });
      if (process.env.SHOW) process.stdout.write(`#${JSON.stringify({ ...one, ...seen })}\n`);
      expect(seen.lost).toEqual([]);
      expect(seen.most).toBeLessThanOrEqual(one.limit);
      // Of a few calls, one is more than 5 %.
      expect(seen.admitted).toBeGreaterThanOrEqual(Math.min(seen.allowed * 0.95, seen.allowed - 1));
    },
  );
});
