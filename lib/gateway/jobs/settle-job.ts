import type { Pool, PoolClient } from 'pg';
import { feePointsOf, type JobFacts, type JobState } from '#lib/core/facts/job';
import type { FamilyId } from '#lib/core/families/ids';
import { meteredUsage } from '#lib/core/metering/anomaly';
import { ownListNano } from '#lib/core/metering/own-fee';
import { simulatedProvider } from '#lib/core/simulated';
import { readBatchEnd } from '#lib/gateway/jobs/batches/batch-end';
import { type Ending, endOf, type JobEnd, type JobTerms } from '#lib/gateway/jobs/end';
import {
  addToTags,
  boundsOf,
  chargeKey,
  type LateCharge,
  lockWorkspace,
  type ModelColumns,
  priceOf,
  sumsOf,
} from '#lib/gateway/jobs/late-charge';
import { nestedVersions } from '#lib/gateway/jobs/nested-facts';
import { insertLine } from '#lib/gateway/ledger/post-line';
import { postUsage } from '#lib/gateway/ledger/post-usage';
import type { FlaggedCharge } from '#lib/gateway/metrics/charge-flags';
import { linesJson } from '#lib/gateway/settlement/pure/call-row';
import { countedUsage } from '#lib/gateway/settlement/pure/quarter';
import { addSums } from '#lib/gateway/settlement/settle';
import { type Change, publish } from '#lib/platform/data/change';
import { jsonText } from '#lib/platform/data/json-text';
import { repeatable } from '#lib/platform/data/transaction/repeatable';

/** How a settlement went; null: it was settled before, nothing was changed. */
export type Settled = 'charged' | 'released' | null;

interface LockedJob extends ModelColumns {
  readonly workspace_id: string;
  readonly key_id: string;
  readonly family: FamilyId;
  readonly kind: string;
  readonly provider_id: string;
  readonly model_id: string;
  readonly hold_nano: string;
  readonly facts: JobFacts;
  readonly state: JobState;
  readonly removing: JobState | null;
  readonly created_at: Date;
  readonly lost_at: Date | null;
  readonly settled_at: Date | null;
  readonly price: unknown;
}

const lockJob = `
  SELECT j.workspace_id, j.key_id, j.family, j.kind, j.provider_id, j.model_id, j.hold_nano::text AS hold_nano, j.facts, j.state,
    j.removing, j.created_at, j.lost_at, j.settled_at, v.price, m.context_tokens, m.max_output_tokens,
    m.output
  FROM job j LEFT JOIN price_version v ON v.id = j.price_version_id LEFT JOIN model m ON m.id = j.model_id
  WHERE j.call_id = $1 FOR UPDATE OF j`;

/** Cut to the precision of the column, not rounded: it lies in the quarter of the line that the charge is posted to. */
const endJob = `
  UPDATE job SET settled_at = date_trunc('milliseconds', now()), next_poll_at = NULL, polled_by = NULL, state = $2, cost_nano = $3,
    over_hold_nano = $4, usage = $5, usage_source = $6, lines = $7, flags = flags || $8::text[],
    view = coalesce($9::jsonb, view)
  WHERE call_id = $1`;

/**
 * Ends a job once: its charge, the ledger, balance, key, sums and its hold in one transaction. Locks are taken
 * in the order of every settlement: job, workspace with its lines, key, leases, hold, sums, change feed. A job
 * whose row says that it was settled is charged nothing more.
 * @param charged receives an end that has flags, once it is written.
 * @throws when the database cannot be asked, after some tries.
 */
export async function settleJob(
  pool: Pool,
  callId: string,
  ending: Ending,
  charged: (charge: FlaggedCharge) => void,
): Promise<Settled> {
  const { settled, flagged } = await repeatable(pool, async (client): Promise<Ended> => {
    const { rows } = await client.query<LockedJob>(lockJob, [callId]);
    const [job] = rows;
    if (!job || job.settled_at) return { settled: null, flagged: null };
    const { strict } = await lockWorkspace(client, job.workspace_id);
    const end = await readEnd(client, callId, ending, { job, strict });
    const late = lateChargeOf(job, end);
    const changes = end.costNano > 0n ? await charge(client, callId, job, late) : [];
    if (changes) await addToTags(client, callId, late, countedUsage(meteredUsage(end)));
    await client.query('DELETE FROM hold WHERE call_id = $1', [callId]);
    if (changes) await addSums(client, sumsOf(late, countedUsage(meteredUsage(end))));
    await client.query(endJob, [
      callId,
      end.state,
      `${end.costNano}`,
      `${end.overHoldNano}`,
      JSON.stringify(end.usage),
      end.usageSource,
      linesJson(end.lines),
      end.flags,
      viewOf(ending),
    ]);
    await publish(client, changes ?? []);
    const { flags, usage, serviceTier } = end;
    const flagged = { callId, provider: job.provider_id, model: job.model_id, flags, usage, serviceTier };
    return {
      settled: end.costNano > 0n ? 'charged' : 'released',
      flagged: flags.length > 0 ? flagged : null,
    };
  });
  if (flagged) charged(flagged);
  return settled;
}

async function readEnd(
  client: PoolClient,
  callId: string,
  ending: Ending,
  { job, strict }: { readonly job: LockedJob; readonly strict: boolean },
): Promise<JobEnd> {
  const terms = termsOf(job, strict);
  if (job.kind === 'batch') return readBatchEnd(client, { callId, family: job.family }, ending, terms);
  return endOf(ending, { ...terms, nestedPrices: await readNested(client, job.facts) });
}

interface Ended {
  readonly settled: Settled;
  readonly flagged: FlaggedCharge | null;
}

/** Spend counts where the hold did, at the admission; the create call itself was counted with its row. */
function lateChargeOf(job: LockedJob, { costNano, lines }: JobEnd): LateCharge {
  return {
    workspaceId: job.workspace_id,
    keyId: job.key_id,
    model: job.model_id,
    provider: job.provider_id,
    atMs: job.created_at.getTime(),
    spentNano: costNano,
    ownListNano: ownListNano(lines),
  };
}

const lateLine = { kind: 'adjustment', reason: 'a job that was given up, and ended later' } as const;

/** @returns what must be published; null if its line exists already: the money has moved. */
async function charge(
  client: PoolClient,
  callId: string,
  job: LockedJob,
  late: LateCharge,
): Promise<Change[] | null> {
  const { workspaceId, keyId, spentNano } = late;
  // Its usage was given up once, and others may have relied on that: then the charge is a line of its own.
  const simulated = job.provider_id === simulatedProvider;
  if (!job.lost_at) {
    const simulatedNano = simulated ? spentNano : 0n;
    await postUsage(client, [{ id: workspaceId, spentNano, simulatedNano, calls: 1 }]);
  } else {
    const line = { ...lateLine, workspaceId, keyId, ref: callId, amountNano: -spentNano, simulated };
    if (!(await insertLine(client, line))) return null;
  }
  const heldNano = job.lost_at ? 0n : BigInt(job.hold_nano);
  const changes = await chargeKey(client, late, heldNano);
  // A charge takes the place of its hold: free money falls by what it exceeds that, and only then.
  return spentNano > heldNano ? [{ kind: 'workspace', subject: workspaceId }, ...changes] : changes;
}

/** The prices under which the create call's nested models were admitted. */
async function readNested(client: PoolClient, facts: JobFacts): Promise<JobTerms['nestedPrices']> {
  const versions = nestedVersions(facts);
  if (versions.length === 0) return [];
  const { rows } = await client.query<{ id: string; price: unknown }>(
    'SELECT id::text AS id, price FROM price_version WHERE id::text = ANY($1)',
    [versions.map(([, id]) => id)],
  );
  const prices = new Map(rows.map(({ id, price }) => [id, priceOf(price)]));
  return versions.flatMap(([name, id]) => {
    const price = prices.get(id);
    return price ? [[name, price] as const] : [];
  });
}

function termsOf(job: LockedJob, strict: boolean): Omit<JobTerms, 'nestedPrices'> {
  return {
    holdNano: BigInt(job.hold_nano),
    removing: job.removing,
    state: job.state,
    price: priceOf(job.price),
    model: boundsOf(job),
    choices: choicesOf(job.facts),
    serviceTier: typeof job.facts.serviceTier === 'string' ? job.facts.serviceTier : null,
    serverTools: job.facts.serverTools !== undefined,
    strict,
    feePoints: feePointsOf(job.facts),
  };
}

/** Dialects name the number of results differently; a job without one makes one. */
function choicesOf(facts: JobFacts): number {
  const named = Number(facts.n ?? facts.choices ?? facts.samples ?? 1);
  return Number.isFinite(named) && named > 1 ? named : 1;
}

function viewOf(ending: Ending): string | null {
  const view = ending.kind === 'seen' || ending.kind === 'removed' ? (ending.sight?.view ?? null) : null;
  return view === null ? null : jsonText(view);
}
