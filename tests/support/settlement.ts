import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import type { Resource } from '#lib/core/facts/resource';
import { usageOf } from '#lib/core/metering/usage';
import type {
  CallRecord,
  CloseEntry,
  KeepEntry,
  OpenEntry,
  RefusedEntry,
} from '#lib/gateway/settlement/pure/entry';
import { systemClock } from '#lib/platform/clock';
import { createIds } from '#lib/platform/ids';

const ids = createIds(systemClock);

export function newId(): string {
  const id = ids.newId();
  if (id === null) throw new Error('the clock of this machine is far off');
  return id;
}

/** A new directory for one journal. */
export function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'gateway-journal-'));
}

export interface Customer {
  readonly workspaceId: string;
  readonly keyId: string;
}

/** A workspace with a balance that has ledger lines, and a key in it. */
export async function createCustomer(
  pool: Pool,
  given: { balanceNano?: bigint; quotaNano?: bigint } & Partial<Customer> = {},
): Promise<Customer> {
  const { workspaceId = newId(), keyId = newId() } = given;
  const balance = `${given.balanceNano ?? 1_000_000_000_000n}`;
  await pool.query('INSERT INTO workspace (id, slug, name, balance_nano) VALUES ($1, $2, $2, $3)', [
    workspaceId,
    `w-${workspaceId}`,
    balance,
  ]);
  await pool.query(
    `INSERT INTO ledger_line (id, workspace_id, kind, ref, amount_nano) VALUES ($1, $2, 'adjustment', $3, $4)`,
    [newId(), workspaceId, `opening ${workspaceId}`, balance],
  );
  await addKey(pool, workspaceId, keyId, given.quotaNano ?? null);
  return { workspaceId, keyId };
}

export async function addKey(
  pool: Pool,
  workspaceId: string,
  keyId: string,
  quotaNano: bigint | null,
): Promise<void> {
  await pool.query(
    `INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end, quota_nano)
     VALUES ($1, $2, 'test', $4, 'mg_', 'x', $3)`,
    [keyId, workspaceId, quotaNano === null ? null : `${quotaNano}`, Buffer.from(keyId)],
  );
}

/** A completed call of one attempt, with `costNano` of input as its only line. */
export function callOf(customer: Customer, given: Partial<CallRecord> = {}): CallRecord {
  const id = given.id ?? newId();
  const costNano = given.costNano ?? 20n;
  return {
    id,
    clientRequestId: null,
    atMs: Date.now(),
    ...customer,
    family: 'chat',
    operation: 'chat.create',
    requestedModel: 'openai/gpt-4.1',
    answeringModel: 'openai/gpt-4.1',
    provider: 'openai',
    status: 200,
    errorCode: null,
    streamed: false,
    latencyMs: 120,
    firstByteMs: 80,
    overheadMs: 0.5,
    endReason: 'completed',
    usageSource: 'reported',
    flags: [],
    usage: usageOf({ input: Number(costNano), output: 3 }),
    lines:
      costNano > 0n
        ? [
            {
              class: 'input',
              quantity: Number(costNano),
              unitPriceNano: 1_000_000n,
            },
          ]
        : [],
    costNano,
    holdNano: 1_000_000n,
    priceVersionId: null,
    userAgent: 'test',
    attempts: [
      {
        provider: 'openai',
        model: 'gpt-4.1',
        status: 200,
        error: null,
        startMs: 1,
        durationMs: 110,
        upstreamRequestId: 'req_1',
        credential: 'default',
        possibleDuplicate: false,
        providerCode: null,
        providerMessage: null,
      },
    ],
    ...given,
  };
}

/** What was known about a call when it was admitted. */
export function openOf(call: CallRecord, funding: OpenEntry['funding'] = 'lease'): OpenEntry {
  const known: CallRecord = {
    ...call,
    answeringModel: null,
    provider: null,
    status: 0,
    errorCode: null,
    latencyMs: 0,
    firstByteMs: null,
    overheadMs: 0,
    endReason: 'completed',
    usageSource: 'none',
    flags: [],
    usage: usageOf({}),
    lines: [],
    costNano: 0n,
    priceVersionId: null,
    attempts: [],
  };
  const { id: callId, atMs, holdNano } = call;
  return { kind: 'open', callId, atMs, holdNano, tokens: 50, funding, call: known };
}

export function closeOf(call: CallRecord, funding: CloseEntry['funding'] = 'lease'): CloseEntry {
  return { kind: 'close', callId: call.id, funding, call };
}

/** The resources that a provider has stored since this call; each a response with its own id by default. */
export function keepOf(call: CallRecord, ...given: readonly Partial<Resource>[]): KeepEntry {
  const { id: callId, workspaceId, atMs } = call;
  const resources = given.map(
    (part): Resource => ({
      kind: 'response',
      id: `resp_${newId()}`,
      workspaceId,
      providerId: 'openai',
      credential: 'default',
      family: 'responses',
      modelId: 'openai/gpt-4.1',
      upstreamModel: 'gpt-4.1',
      callId,
      job: false,
      tokens: 0,
      createdAtMs: atMs,
      ...part,
    }),
  );
  return { kind: 'keep', callId, resources };
}

export function refusedOf(customer: Customer): RefusedEntry {
  const call = callOf(customer, {
    status: 402,
    errorCode: 'insufficient_balance',
    endReason: 'refused',
    usageSource: 'none',
    answeringModel: null,
    provider: null,
    costNano: 0n,
    holdNano: 0n,
    usage: usageOf({}),
    attempts: [],
  });
  return { kind: 'refused', callId: call.id, call };
}
