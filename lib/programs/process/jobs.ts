import type { Pool } from 'pg';
import type { OwnKey } from '#lib/core/facts/credential';
import type { Catalogue } from '#lib/core/facts/snapshot';
import type { Access } from '#lib/gateway/clouds/access';
import { AdjustmentStore } from '#lib/gateway/jobs/adjustments/adjustment-store';
import { Adjustments } from '#lib/gateway/jobs/adjustments/adjustments';
import { createCollect } from '#lib/gateway/jobs/batches/collect';
import { LineStore } from '#lib/gateway/jobs/batches/line-store';
import { JobStore } from '#lib/gateway/jobs/job-store';
import { createJobs } from '#lib/gateway/jobs/jobs';
import { createPoll } from '#lib/gateway/jobs/poll';
import { startSweep } from '#lib/gateway/jobs/sweep';
import { POLL_LEASE_MS } from '#lib/gateway/jobs/timing';
import type { FlaggedCharge } from '#lib/gateway/metrics/charge-flags';
import { offeredPrices } from '#lib/gateway/snapshot/catalogue';
import type { Pools } from '#lib/gateway/upstream/pools';
import type { Clock } from '#lib/platform/clock';

/** The jobs of this process: their rows in PostgreSQL, their providers, and the sweeper that asks for them. */
export function openJobs(parts: {
  readonly pool: Pool;
  /** Of this process: what it asks for is due again when it ends. */
  readonly ownerId: string;
  readonly pools: Pools;
  readonly access: Access;
  readonly clock: Clock;
  catalogue(): Catalogue;
  /** As `createPoll` takes it. */
  ownKey(workspaceId: string, name: string): Promise<OwnKey | null>;
  /** Called with each settled job and adjustment that has flags. */
  charged(charge: FlaggedCharge): void;
  report(error: unknown, callId: string | null): void;
}) {
  const { pool, clock, report } = parts;
  const store = new JobStore(pool, parts.charged, parts.ownerId);
  const poll = createPoll(parts);
  const collect = createCollect({
    ...parts,
    lines: new LineStore(pool),
    renew: (callId) => store.renew(callId, clock.now() + POLL_LEASE_MS),
  });
  const jobs = createJobs({ clock, store, poll, collect, report });
  const sweep = startSweep({ clock, store, jobs, poll, report });
  const adjustmentStore = new AdjustmentStore(
    pool,
    (providerId) => offeredPrices(parts.catalogue(), providerId),
    parts.charged,
    report,
  );
  const adjustments = new Adjustments(clock, adjustmentStore, report);
  /** Polls no more; before the pools and the database are closed. */
  const stop = () => Promise.all([sweep.stop(), adjustments.stop()]);
  return { jobs, adjustments, stop };
}
