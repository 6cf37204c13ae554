import { randomBytes, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { CostLine } from '#lib/core/metering/cost-line';
import { usageOf } from '#lib/core/metering/usage';
import type { AttemptRecord, CloseEntry } from '#lib/gateway/settlement/pure/entry';
import { idFloor } from '#lib/platform/ids';

export interface Key {
  readonly workspaceId: string;
  readonly keyId: string;
}

const models = [
  'openai/gpt-4.1',
  'anthropic/claude-sonnet-4.5',
  'google/gemini-2.5-flash',
  'openai/gpt-4o-mini',
];
const agents = ['OpenAI/Python 2.7.1', 'OpenAI/JS 6.9.0', 'Anthropic/Python 0.72.0', 'python-httpx/0.28.1'];
const priceVersions = models.map(() => randomUUID());

/** Workspaces with funds and keys. */
export async function makeKeys(pool: Pool, workspaces: number, keys: number): Promise<Key[]> {
  const made: Key[] = [];
  for (let at = 0; at < workspaces; at++) {
    const workspaceId = randomUUID();
    const values = [workspaceId, `w${workspaceId}`, '1000000000000000'];
    await pool.query('INSERT INTO workspace (id, slug, name, balance_nano) VALUES ($1, $2, $2, $3)', values);
    for (let one = 0; one < keys; one++) {
      const keyId = randomUUID();
      await pool.query(
        `INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end) VALUES ($1, $2, 'k', $3, 'mg_', 'x')`,
        [keyId, workspaceId, randomBytes(32)],
      );
      made.push({ workspaceId, keyId });
    }
  }
  return made;
}

/**
 * Typical ended calls: one in four with cached input, one in twenty after a failed attempt.
 * @param beginMs when the first call begins, ms since the epoch; one call begins each millisecond.
 */
export function callsOf(keys: readonly Key[], count: number, beginMs: number): CloseEntry[] {
  return Array.from({ length: count }, (_, at) => closeOf(keys, at, beginMs + at));
}

/** The `at`-th of these calls. @param atMs when it begins, ms since the epoch. */
export function closeOf(keys: readonly Key[], at: number, atMs: number): CloseEntry {
  const key = keys[(at * 7) % keys.length];
  const model = models[at % 4] ?? '';
  const [provider = ''] = model.split('/');
  if (!key) throw new Error('there is no key');
  const usage = usageOf({
    input: 200 + ((at * 37) % 4000),
    cachedInput: at % 4 === 0 ? 1024 : 0,
    output: 20 + ((at * 13) % 900),
  });
  const lines = [
    lineOf('input', usage.input, 2_000_000_000n),
    ...(usage.cachedInput > 0 ? [lineOf('cachedInput', usage.cachedInput, 500_000_000n)] : []),
    lineOf('output', usage.output, 8_000_000_000n),
  ];
  const costNano = lines.reduce(
    (sum, line) => sum + (BigInt(line.quantity) * line.unitPriceNano) / 1_000_000n,
    0n,
  );
  const call = {
    id: idFloor(atMs).slice(0, 14) + randomUUID().slice(14),
    clientRequestId: null,
    atMs,
    ...key,
    family: 'chat',
    operation: 'chat.create',
    requestedModel: model,
    answeringModel: model,
    provider,
    status: 200,
    errorCode: null,
    streamed: at % 2 === 0,
    latencyMs: 400 + ((at * 11) % 6000),
    firstByteMs: 200 + (at % 300),
    overheadMs: 0.4 + (at % 100) / 300,
    endReason: 'completed' as const,
    usageSource: 'reported' as const,
    flags: [],
    usage,
    lines,
    costNano,
    holdNano: costNano * 3n,
    priceVersionId: priceVersions[at % 4] ?? null,
    userAgent: agents[at % 4] ?? null,
    attempts:
      at % 20 === 0
        ? [attemptOf(provider, model, 503, 'server_error'), attemptOf(provider, model, 200, null)]
        : [attemptOf(provider, model, 200, null)],
  };
  return { kind: 'close', callId: call.id, funding: 'lease', call };
}

function lineOf(name: string, quantity: number, unitPriceNano: bigint): CostLine {
  return { class: name, quantity, unitPriceNano };
}

function attemptOf(provider: string, model: string, status: number, error: string | null): AttemptRecord {
  return {
    provider,
    model,
    status,
    error,
    startMs: 1,
    durationMs: 780,
    upstreamRequestId: `req_${randomBytes(16).toString('hex')}`,
    credential: 'default',
    possibleDuplicate: false,
    providerCode: null,
    providerMessage: null,
  };
}
