import type { PoolClient } from 'pg';
import type { JobSight, JobState } from '#lib/core/facts/job';
import type { FamilyId } from '#lib/core/families/ids';
import { familyOf } from '#lib/core/families/index';
import { together } from '#lib/core/metering/price-report';
import { type LineSums, sumOfLines } from '#lib/gateway/jobs/batches/line-store';
import type { Ending, JobEnd, JobTerms } from '#lib/gateway/jobs/end';

/** The end of a batch, by the lines that were collected (contract: batches/charge). */
export async function readBatchEnd(
  client: PoolClient,
  { callId, family }: { readonly callId: string; readonly family: FamilyId },
  ending: Ending,
  terms: Pick<JobTerms, 'holdNano' | 'state' | 'strict'>,
): Promise<JobEnd> {
  const answered = ending.kind === 'seen' ? answeredIn(family, ending.sight.view) : 0;
  return batchEndOf(ending, { ...terms, answered }, await sumOfLines(client, callId));
}

/**
 * The charge of a batch: the sum of its lines. If its provider says that lines were answered, but names no file with
 * their results, it is the hold. Pure.
 */
function batchEndOf(
  ending: Ending,
  {
    holdNano,
    state,
    strict,
    answered,
  }: Pick<JobTerms, 'holdNano' | 'state' | 'strict'> & { readonly answered: number },
  sums: LineSums,
): JobEnd {
  const end = { state: stateOf(ending, state), serviceTier: null };
  const gone = ending.kind === 'gone' ? ['job_gone'] : [];
  if (sums.lines === 0) {
    const told = answered > 0;
    return {
      ...end,
      costNano: told ? holdNano : 0n,
      overHoldNano: 0n,
      usage: sums.usage,
      usageSource: told ? 'estimated' : 'none',
      lines: [],
      flags: told ? ['job_unreported'] : gone,
    };
  }
  const capped = strict && sums.costNano > holdNano;
  const costNano = capped ? holdNano : sums.costNano;
  return {
    ...end,
    costNano,
    overHoldNano: costNano > holdNano ? costNano - holdNano : 0n,
    usage: sums.usage,
    usageSource: 'reported',
    lines: sums.costLines,
    flags: together(gone, sums.flags, capped ? ['strict_capped'] : []),
  };
}

function stateOf(ending: Ending, state: JobState): JobState {
  if (ending.kind === 'seen') return ending.sight.state;
  return ending.kind === 'gone' ? 'failed' : state;
}

/** How many lines the provider says it has answered. */
function answeredIn(family: FamilyId, view: JobSight['view']): number {
  const answered = familyOf(family)?.jobs?.answered?.(view) ?? 0;
  return Number.isFinite(answered) ? answered : 0;
}
