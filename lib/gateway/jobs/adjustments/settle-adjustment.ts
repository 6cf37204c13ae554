import type { PoolClient } from 'pg';
import { meteredUsage, type UsageBounds } from '#lib/core/metering/anomaly';
import type { NamedPrice } from '#lib/core/metering/nested-prices';
import {
  type Usage,
  type UsageReport,
  type UsageSource,
  usageClasses,
  usageOf,
} from '#lib/core/metering/usage';
import { parsePrice } from '#lib/core/schemas/price';
import { simulatedProvider } from '#lib/core/simulated';
import { endOf, type JobEnd } from '#lib/gateway/jobs/end';
import { insertLine, recallLeases } from '#lib/gateway/ledger/post-line';
import type { FlaggedCharge } from '#lib/gateway/metrics/charge-flags';
import { minuteMs } from '#lib/gateway/settlement/pure/apply';
import { linesJson } from '#lib/gateway/settlement/pure/call-row';
import { countedUsage, laterQuarter, quarterMs, startOf } from '#lib/gateway/settlement/pure/quarter';
import { storedCostLines } from '#lib/gateway/settlement/record/stored-lines';
import { addSums, auditExhausted, chargeKeys } from '#lib/gateway/settlement/settle';
import { type Change, publish, type SqlRunner } from '#lib/platform/data/change';

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

const lockWorkspace = 'SELECT strict FROM workspace WHERE id = $1 FOR NO KEY UPDATE';

const endAdjustment = `
  UPDATE adjustment SET settled_at = $2, usage = $3, lines = $4, flags = $5, cost_nano = $6, amount_nano = $7,
    over_hold_nano = $8, more = $9
  WHERE call_id = $1`;

interface Charged {
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
  readonly context_tokens: number | null;
  readonly max_output_tokens: number | null;
  readonly output: readonly string[] | null;
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
  const workspace = await client.query<{ strict: boolean }>(lockWorkspace, [charged.workspace_id]);
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
      strict: workspace.rows[0]?.strict === true,
    },
  );
  const amountNano = end.costNano - BigInt(charged.cost);
  const fresh = amountNano !== 0n && (await post(client, callId, charged, amountNano));
  const changes = fresh ? await move(client, charged, amountNano) : [];
  const more = moreUsage(charged, end);
  if (fresh || amountNano === 0n) await addSums(client, sumsOf(charged, more, amountNano));
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
  await publish(runnerOf(client), changes);
  if (end.flags.length === 0) return silent;
  const { flags, usage, serviceTier } = end;
  const [provider, model] = [charged.provider ?? '', charged.model ?? ''];
  return { flagged: { callId, provider, model, flags, usage, serviceTier } };
}

const silent = { flagged: null };

/**
 * The line and the balance.
 * @returns false when the ledger line exists already, so that the money has been moved before.
 */
function post(client: PoolClient, callId: string, charged: Charged, amountNano: bigint): Promise<boolean> {
  return insertLine(runnerOf(client), {
    workspaceId: charged.workspace_id,
    keyId: charged.key_id,
    kind: 'adjustment',
    ref: charged.late ? `${callId}:retrieved` : callId,
    amountNano: -amountNano,
    reason: 'usage of a stored response, retrieved later',
    simulated: charged.provider === simulatedProvider,
  });
}

function runnerOf(client: PoolClient): SqlRunner {
  return { query: (text, values) => client.query(text, values) };
}

/** Charges the key, or gives back, and recalls leases. @returns the changes to publish. */
async function move(client: PoolClient, charged: Charged, spentNano: bigint): Promise<Change[]> {
  const { workspace_id: workspaceId, key_id: keyId } = charged;
  const lastUsedMs = charged.at.getTime();
  const exhausted = await chargeKeys(client, { keys: [{ id: keyId, spentNano, lastUsedMs }] });
  const changes: Change[] = [{ kind: 'workspace', subject: workspaceId }];
  const tx = runnerOf(client);
  // The free balance falls, so leases are recalled as after any debit.
  if (spentNano > 0n) {
    changes.push(await recallLeases(tx, keyId, 'key'), await recallLeases(tx, workspaceId));
  }
  return [...changes, ...(await auditExhausted(client, exhausted))];
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

/** The difference counts at the call's admission, like its spend. */
function sumsOf(charged: Charged, more: Usage, costNano: bigint): Parameters<typeof addSums>[1] {
  const atMs = charged.at.getTime();
  const { workspace_id: workspaceId, key_id: keyId, model, provider } = charged;
  const place = { workspaceId, keyId, model: model ?? '', provider: provider ?? '' };
  const quarter = laterQuarter({ ...place, quarterMs: startOf(atMs, quarterMs) }, more, costNano);
  const minute = { keyId, minuteMs: startOf(atMs, minuteMs), spentNano: costNano };
  return { minutes: costNano === 0n ? [] : [minute], quarters: [quarter] };
}

/** null: the model has left the catalogue. */
function boundsOf({ context_tokens, max_output_tokens, output }: Charged): UsageBounds | null {
  if (context_tokens === null || max_output_tokens === null || output === null) return null;
  return { contextTokens: context_tokens, maxOutputTokens: max_output_tokens, output };
}

/** null: the price version is gone or unreadable, so that the estimate stays. */
function priceOf(stored: unknown) {
  try {
    return stored === null ? null : parsePrice(stored);
  } catch {
    return null;
  }
}
