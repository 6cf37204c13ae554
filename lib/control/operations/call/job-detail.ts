import { z } from 'zod';
import type { Job } from '#generated/client';
import { formatUsd } from '#lib/core/money';

/** The job that a call created (contract: jobs/jobs); money in dollars. */
export const shownJob = z.object({
  id: z.string().describe('The provider’s id of the job, which the client uses.'),
  kind: z.string(),
  provider: z.string(),
  state: z.string().describe('As last seen: queued, running, completed, failed or cancelled.'),
  lost: z
    .boolean()
    .describe('Its hold was released before it ended; if it completes after all, it is charged.'),
  hold: z.string().describe('Held until it is settled, dollars.'),
  cost: z.string().nullable().describe('null until it is settled; "0": released.'),
  createdAt: z.iso.datetime(),
  settledAt: z.iso.datetime().nullable(),
});
type JobDetail = z.output<typeof shownJob>;

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
