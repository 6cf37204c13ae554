import { noUsage, type Usage, usageClasses } from '#lib/core/metering/usage';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import {
  type CallColumn,
  callColumns,
  openColumns,
  typeIds,
} from '#lib/gateway/settlement/pure/record/columns';
import { databaseEpochMs, padding } from '#lib/gateway/settlement/pure/record/row-writer';
import { storedAttempts } from '#lib/gateway/settlement/pure/record/stored-attempts';
import { storedCostLines } from '#lib/gateway/settlement/record/stored-lines';
import { readEndReason, readUsageSource } from '#lib/gateway/settlement/record/words';

/**
 * A row as `callRow` and `openRow` write it; what an open one cannot know yet is empty.
 * @throws Error when it is none.
 */
export function readCallRow(bytes: Buffer): CallRecord {
  const row = new Row(bytes);
  const [status, provider] = [row.int('status') ?? 0, row.text('provider')];
  const answeringModel = row.text('answering_model');
  return {
    id: row.uuid('id') ?? '',
    clientRequestId: row.text('client_request_id'),
    atMs: row.timestamptz('at'),
    workspaceId: row.uuid('workspace_id') ?? '',
    keyId: row.uuid('key_id') ?? '',
    family: row.text('family') ?? '',
    operation: row.text('operation') ?? '',
    requestedModel: row.text('requested_model'),
    answeringModel,
    provider,
    status,
    errorCode: row.text('error_code'),
    streamed: row.bool('streamed'),
    latencyMs: row.int('latency_ms') ?? 0,
    firstByteMs: row.int('first_byte_ms'),
    overheadMs: row.real('overhead_ms'),
    endReason: readEndReason(row.text('end_reason') ?? 'completed'),
    usageSource: readUsageSource(row.text('usage_source') ?? 'none'),
    flags: row.texts('flags'),
    usage: readUsage(row.json('usage')),
    lines: storedCostLines(row.json('lines')),
    costNano: row.bigint('cost_nano'),
    holdNano: row.bigint('hold_nano'),
    priceVersionId: row.uuid('price_version_id'),
    userAgent: row.text('user_agent'),
    attempts: storedAttempts(row.json('attempts'), { status, provider, answeringModel }),
  };
}

function readUsage(json: unknown): Usage {
  const usage = { ...noUsage };
  const figures = new Map(typeof json === 'object' && json !== null ? Object.entries(json) : []);
  for (const name of usageClasses) usage[name] = Number(figures.get(name) ?? 0);
  return usage;
}

/** The columns of a row by their names. */
class Row {
  readonly #columns = new Map<CallColumn, Buffer>();

  /** @throws Error when these are not columns of a call. */
  constructor(bytes: Buffer) {
    const count = bytes.readInt32BE(0);
    if (count !== openColumns.length && count !== callColumns.length)
      throw new Error(`a row of a call has ${count} columns`);
    let at = 4;
    for (const [name, type] of callColumns.slice(0, count)) {
      const length = bytes.readInt32BE(at + 4);
      if (bytes.readInt32BE(at) !== typeIds[type] || at + 8 + length > bytes.length)
        throw new Error(`the column ${name} of a call is damaged`);
      at += 8;
      if (length < 0) continue;
      this.#columns.set(name, bytes.subarray(at, at + length));
      at += length;
    }
    if (at !== bytes.length) throw new Error('a row of a call is longer than its columns');
  }

  text(name: CallColumn): string | null {
    return this.#columns.get(name)?.toString() ?? null;
  }

  uuid(name: CallColumn): string | null {
    const value = this.#columns.get(name);
    if (value?.length !== 16) return value ? misfit(value) : null;
    const hex = value.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }

  int(name: CallColumn): number | null {
    return this.#columns.get(name)?.readInt32BE(0) ?? null;
  }

  real(name: CallColumn): number {
    return this.#columns.get(name)?.readFloatBE(0) ?? 0;
  }

  bool(name: CallColumn): boolean {
    return this.#columns.get(name)?.[0] === 1;
  }

  bigint(name: CallColumn): bigint {
    const value = this.#columns.get(name);
    if (value?.length !== 8) return value ? BigInt(misfit(value)) : 0n;
    return value.readBigInt64BE(0);
  }

  /** ms since the epoch. */
  timestamptz(name: CallColumn): number {
    const value = this.#columns.get(name);
    if (value?.length !== 8) return value ? Number(misfit(value)) : 0;
    return Number(value.readBigInt64BE(0) / 1000n) + databaseEpochMs;
  }

  /** What was null reads as the empty list. */
  texts(name: CallColumn): string[] {
    const value = this.#columns.get(name);
    const texts: string[] = [];
    // Behind dimensions, nulls, type, length and lower bound: each with its own length before it.
    for (let at = 20; value && at < value.length; ) {
      const end = at + 4 + value.readInt32BE(at);
      texts.push(value.toString('utf8', at + 4, end));
      at = end;
    }
    return texts;
  }

  json(name: CallColumn): unknown {
    const value = this.#columns.get(name);
    return value ? JSON.parse(value.toString()) : null;
  }
}

/** A value that its type could not hold. */
function misfit(value: Buffer): string {
  const text = value.toString();
  return text.slice(0, text.length - (text.endsWith(padding) ? text.length - text.indexOf(padding) : 0));
}
