import type { PoolClient } from 'pg';
import type { UsageBounds } from '#lib/core/metering/anomaly';
import type { Price } from '#lib/core/metering/price-list';
import type { Usage } from '#lib/core/metering/usage';
import { parsePrice } from '#lib/core/schemas/price';
import { recallLeases } from '#lib/gateway/ledger/post-line';
import { minuteMs } from '#lib/gateway/settlement/pure/apply';
import { laterQuarter, quarterMs, startOf } from '#lib/gateway/settlement/pure/quarter';
import { addTokens } from '#lib/gateway/settlement/pure/tag-sums';
import { type addSums, auditExhausted, chargeKeys } from '#lib/gateway/settlement/settle';
import { addLateTags } from '#lib/gateway/settlement/statements';
import type { Change } from '#lib/platform/data/change';

/** What is charged after its call was settled, by a job or an adjustment: it counts at the call's admission. */
export interface LateCharge {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly model: string;
  readonly provider: string;
  /** Admission, ms since the epoch. */
  readonly atMs: number;
  /** Nano-dollars; below zero gives back. */
  readonly spentNano: bigint;
  /** What it adds to the list price of calls by own keys. */
  readonly ownListNano: bigint;
}

/** The lock under which a workspace's money moves. */
export async function lockWorkspace(
  client: PoolClient,
  workspaceId: string,
): Promise<{ readonly strict: boolean }> {
  const { rows } = await client.query<{ strict: boolean }>(
    'SELECT strict FROM workspace WHERE id = $1 FOR NO KEY UPDATE',
    [workspaceId],
  );
  return { strict: rows[0]?.strict === true };
}

/**
 * Charges the key, and recalls leases if free money falls: by what the charge exceeds its hold.
 * @returns what must be published in the same transaction, as its last statement.
 */
export async function chargeKey(
  client: PoolClient,
  { workspaceId, keyId, atMs, spentNano }: LateCharge,
  heldNano: bigint,
): Promise<Change[]> {
  const exhausted = await chargeKeys(client, { keys: [{ id: keyId, spentNano, lastUsedMs: atMs }] });
  const recalled =
    spentNano > heldNano
      ? [await recallLeases(client, keyId, 'key'), await recallLeases(client, workspaceId)]
      : [];
  return [...recalled, ...(await auditExhausted(client, exhausted))];
}

/** What a late charge adds to the sums by minute and by quarter. @param used what it adds to the call's usage. */
export function sumsOf(charge: LateCharge, used: Usage): Parameters<typeof addSums>[1] {
  const { workspaceId, keyId, model, provider, atMs, spentNano, ownListNano } = charge;
  const place = { workspaceId, keyId, model, provider, quarterMs: startOf(atMs, quarterMs) };
  const counts = spentNano !== 0n || ownListNano !== 0n || Object.values(used).some((figure) => figure !== 0);
  return {
    minutes: spentNano === 0n ? [] : [{ keyId, minuteMs: startOf(atMs, minuteMs), spentNano }],
    quarters: counts ? [laterQuarter(place, used, { costNano: spentNano, ownListNano })] : [],
  };
}

/** Adds a late charge to the sums of the tags of its call (contract: tags/spend), before its hold is deleted. */
export async function addToTags(
  client: PoolClient,
  callId: string,
  { workspaceId, atMs, spentNano }: LateCharge,
  used: Usage,
): Promise<void> {
  const tokens = { inputTokens: 0, outputTokens: 0 };
  addTokens(tokens, used);
  const quarter = new Date(startOf(atMs, quarterMs)).toISOString();
  await client.query(addLateTags, [
    callId,
    quarter,
    workspaceId,
    `${tokens.inputTokens}`,
    `${tokens.outputTokens}`,
    `${spentNano}`,
  ]);
}

/** null: the price version is gone or cannot be read. */
export function priceOf(stored: unknown): Price | null {
  try {
    return stored === null ? null : parsePrice(stored);
  } catch {
    return null;
  }
}

/** The columns of `model` that bound a usage, in a row that may have none. */
export interface ModelColumns {
  readonly context_tokens: number | null;
  readonly max_output_tokens: number | null;
  readonly output: readonly string[] | null;
}

/** null: the model has left the catalogue. */
export function boundsOf({ context_tokens, max_output_tokens, output }: ModelColumns): UsageBounds | null {
  if (context_tokens === null || max_output_tokens === null) return null;
  return { contextTokens: context_tokens, maxOutputTokens: max_output_tokens, output: output ?? ['text'] };
}
