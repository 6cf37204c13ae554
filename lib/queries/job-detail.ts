import type { Job } from '#generated/client';
import { formatUsd } from '#lib/money';

/** The job that a call created (decisions §11 "Jobs"); money in dollars. */
export interface JobDetail {
  /** The provider's id of it: what the client asks for. */
  id: string;
  kind: string;
  provider: string;
  /** As last seen: queued, running, completed, failed or cancelled. */
  state: string;
  /** Its hold was released without an end; it is charged should it complete all the same. */
  lost: boolean;
  /** What it holds until it is settled, in dollars. */
  hold: string;
  /** null until it is settled; "0": released. */
  cost: string | null;
  createdAt: string;
  settledAt: string | null;
}

export function jobDetail(job: Job): JobDetail {
  return {
    id: job.upstreamId,
    kind: job.kind,
    provider: job.providerId,
    state: job.state,
    lost: job.lostAt !== null,
    hold: formatUsd(job.holdNano),
    cost: job.settledAt === null ? null : formatUsd(job.costNano),
    createdAt: job.createdAt.toISOString(),
    settledAt: job.settledAt?.toISOString() ?? null,
  };
}
