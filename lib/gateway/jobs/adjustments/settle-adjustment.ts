import type { PoolClient } from 'pg';
import { meteredUsage } from '#lib/core/metering/anomaly';
import type { NamedPrice } from '#lib/core/metering/nested-prices';
import { feePointsIn, ownListNano } from '#lib/core/metering/own-fee';
import {
  type Usage,
  type UsageReport,
  type UsageSource,
  usageClasses,
  usageOf,
} from '#lib/core/metering/usage';
import { simulatedProvider } from '#lib/core/simulated';
import { endOf, type JobEnd } from '#lib/gateway/jobs/end';
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
import { insertLine } from '#lib/gateway/ledger/post-line';
import type { FlaggedCharge } from '#lib/gateway/metrics/charge-flags';
import { linesJson } from '#lib/gateway/settlement/pure/call-row';
import { countedUsage } from '#lib/gateway/settlement/pure/quarter';
import { storedCostLines } from '#lib/gateway/settlement/record/stored-lines';
import { addSums } from '#lib/gateway/settlement/settle';
import { publish } from '#lib/platform/data/change';

/** Prices of what a provider offers, by the provider's names: reports may name nested models. */
export type PricesOf = (providerId: string) => readonly NamedPrice[];

const lockAdjustment = `
  SELECT report FROM adjustment WHERE call_id = $1 AND settled_at IS NULL FOR UPDATE`;

/**
 * The previous charge, from the job if the call created one. Neither row changes after settlement.
 */
const findCharged = `
  SELECT c.workspace_id, c.key_id,
    j.call_id IS NULL OR j.settled_at IS NOT NULL AS settled, j.lost_at IS NOT NULL AND j.cost_nano <> 0 AS late,
    coalesce(j.provider_id, c.provider) AS provider, coalesce(j.model_id, c.answering_model) AS model,
    coalesce(j.created_at, c.at) AS at, coalesce(j.usage_source, c.usage_source) AS usage_source,
    coalesce(j.usage, c.usage) AS usage, coalesce(j.cost_nano, c.cost_nano)::text AS cost,
    coalesce(j.hold_nano, c.hold_nano)::text AS hold,
    coalesce(j.over_hold_nano, c.over_hold_nano)::text AS over_hold,
    CASE WHEN j.call_id IS NULL THEN c.lines ELSE j.lines END AS lines,
    CASE WHEN j.call_id IS NULL THEN c.flags ELSE j.flags END AS flags,
    v.price, m.context_tokens, m.max_output_tokens, m.output
  FROM call c LEFT JOIN job j ON j.call_id = c.id
  LEFT JOIN price_version v ON v.id = coalesce(j.price_version_id, c.price_version_id)
  LEFT JOIN model m ON m.id = coalesce(j.model_id, c.answering_model)
  WHERE c.id = $1`;

const endAdjustment = `
  UPDATE adjustment SET settled_at = $2, usage = $3, lines = $4, flags = $5, cost_nano = $6, amount_nano = $7,
    over_hold_nano = $8, more = $9
  WHERE call_id = $1`;

interface Charged extends ModelColumns {
  readonly workspace_id: string;
  readonly key_id: string;
  readonly settled: boolean;
  /** A job that was charged after it was given up: an adjustment has its id as the ref already. */
  readonly late: boolean;
  readonly provider: string | null;
  readonly model: string | null;
  readonly at: Date;
  readonly usage_source: UsageSource;
  readonly usage: Partial<Usage> | null;
  readonly lines: unknown;
  readonly flags: readonly string[] | null;
  readonly cost: string;
  readonly hold: string;
  readonly over_hold: string;
  readonly price: unknown;
}

/**
 * Settles one adjustment inside a transaction: ledger line, balance, key and sums, once. Locks are taken in the order of
 * every settlement: adjustment, workspace, key, leases, sums, change feed.
 * @param atMs now, ms since the epoch.
 * @returns null when the call is not charged yet, so that the adjustment waits; else the flagged charge, to be reported
 * after the commit.
 */
export async function settleAdjustment(
  client: PoolClient,
  callId: string,
  pricesOf: PricesOf,
  atMs: number,
): Promise<{ readonly flagged: FlaggedCharge | null } | null> {
  const waiting = await client.query<{ report: UsageReport }>(lockAdjustment, [callId]);
  const report = waiting.rows[0]?.report;
  if (!report) return silent;
  const found = await client.query<Charged>(findCharged, [callId]);
  const [charged] = found.rows;
  if (!charged?.settled) return null;
  const price = priceOf(charged.price);
  if (charged.usage_source === 'reported' || price === null) {
    await client.query('DELETE FROM adjustment WHERE call_id = $1', [callId]);
    return silent;
  }
  const { strict } = await lockWorkspace(client, charged.workspace_id);
  const end = endOf(
    { kind: 'seen', sight: { state: 'completed', report, view: null } },
    {
      holdNano: BigInt(charged.hold),
      removing: null,
      state: 'completed',
      price,
      nestedPrices: report.nested.length === 0 ? [] : pricesOf(charged.provider ?? ''),
      model: boundsOf(charged),
      choices: 1,
      // The request is not kept: the response names its tier, and is assumed to have run tools.
      serviceTier: null,
      serverTools: true,
      strict,
      feePoints: feePointsBefore(charged),
    },
  );
  const late: LateCharge = {
    workspaceId: charged.workspace_id,
    keyId: charged.key_id,
    model: charged.model ?? '',
    provider: charged.provider ?? '',
    atMs: charged.at.getTime(),
    spentNano: end.costNano - BigInt(charged.cost),
    ownListNano: ownListNano(end.lines) - ownListNano(storedCostLines(charged.lines)),
  };
  const amountNano = late.spentNano;
  // Without a line of its own the money has moved before.
  const moved = amountNano !== 0n && (await insertLine(client, lineOf(callId, charged, late)));
  const changes = moved
    ? [{ kind: 'workspace', subject: late.workspaceId } as const, ...(await chargeKey(client, late, 0n))]
    : [];
  const more = moreUsage(charged, end);
  if (moved || amountNano === 0n) {
    await addSums(client, sumsOf(late, more));
    await addToTags(client, callId, late, more);
  }
  await client.query(endAdjustment, [
    callId,
    new Date(atMs),
    JSON.stringify(end.usage),
    linesJson(end.lines),
    end.flags,
    `${end.costNano}`,
    `${amountNano}`,
    `${end.overHoldNano - BigInt(charged.over_hold)}`,
    JSON.stringify(nonZero(more)),
  ]);
  await publish(client, changes);
  if (end.flags.length === 0) return silent;
  const { flags, usage, serviceTier } = end;
  const { provider, model } = late;
  return { flagged: { callId, provider, model, flags, usage, serviceTier } };
}

/** The fee of what an own key answered; undefined: it was charged at list price. Without lines it cost nothing. */
function feePointsBefore({ lines, flags }: Charged): number | undefined {
  if (!flags?.includes('own_key')) return undefined;
  return feePointsIn(storedCostLines(lines)) ?? 0;
}

const silent = { flagged: null };

function lineOf(
  callId: string,
  { late, provider }: Charged,
  charge: LateCharge,
): Parameters<typeof insertLine>[1] {
  return {
    workspaceId: charge.workspaceId,
    keyId: charge.keyId,
    kind: 'adjustment',
    ref: late ? `${callId}:retrieved` : callId,
    amountNano: -charge.spentNano,
    reason: 'usage of a stored response, retrieved later',
    simulated: provider === simulatedProvider,
  };
}

/** What the report exceeds the estimate by, figure by figure; negative where it is lower. */
function moreUsage({ usage, lines, flags }: Charged, end: JobEnd): Usage {
  const before = countedUsage(
    meteredUsage({ usage: usageOf(usage ?? {}), lines: storedCostLines(lines), flags: flags ?? [] }),
  );
  const more = countedUsage(meteredUsage(end));
  for (const name of usageClasses) more[name] -= before[name];
  return more;
}

function nonZero(usage: Usage): Partial<Usage> {
  return Object.fromEntries(Object.entries(usage).filter(([, figure]) => figure !== 0));
}
