import type { Tag } from '#lib/core/facts/tags';
import { noUsage, type Usage, usageClasses } from '#lib/core/metering/usage';
import { readResources, resourceRows, wordOf } from '#lib/gateway/resources/row';
import { callRow, openRow } from '#lib/gateway/settlement/pure/call-row';
import {
  type CallRecord,
  type Entry,
  endReasons,
  type SettledEntry,
  type WrittenEntry,
} from '#lib/gateway/settlement/pure/entry';
import {
  type CallColumn,
  callColumns,
  openColumns,
  typeIds,
} from '#lib/gateway/settlement/pure/record/columns';
import { databaseEpochMs, padding, type RowBytes } from '#lib/gateway/settlement/pure/record/row-writer';
import { asciiJson } from '#lib/gateway/settlement/pure/record/storable';
import { storedAttempts } from '#lib/gateway/settlement/pure/record/stored-attempts';
import { storedCostLines } from '#lib/gateway/settlement/record/stored-lines';

/** A changed layout takes a new version number: a start never misreads what an older one left. */
export const layoutVersion = 3;
/** First byte of a payload. It occurs in no text, so that nothing that clients wrote is ever taken for a record. */
export const marker = 0xff;
const closingBracket = 0x5d;

/** A journal record's payload: the marker, the head, the row. */
export interface Payload {
  /** A JSON array in ASCII without brackets inside: version, kind, call id, and what the row does not have. */
  readonly head: string;
  /** Of a call (a `keep`: the resources as a JSON array); good until the next payload is made. */
  readonly row: RowBytes;
}

/** The payload of one journal record. What the drain will send is written once for both. */
export function encodeEntry(entry: Entry | WrittenEntry): Payload {
  const head = `[${layoutVersion},"${entry.kind}","${entry.callId}"`;
  const end = entry.kind === 'keep' ? ']' : `${tagsWord(entry.call.tags)}]`;
  switch (entry.kind) {
    case 'open':
      return {
        head: `${head},"${entry.funding}",${entry.atMs},"${entry.holdNano}",${entry.tokens}${end}`,
        row: openRow(entry.call),
      };
    case 'close':
      return { head: `${head},"${entry.funding}"${end}`, row: rowOf(entry) };
    case 'refused':
      return { head: `${head}${end}`, row: rowOf(entry) };
    case 'checkpoint':
      return { head: `${head}${end}`, row: callRow(entry.call) };
    case 'keep': {
      const bytes = Buffer.from(asciiJson(resourceRows(entry.resources)));
      return { head: `${head}]`, row: { bytes, start: 0, end: bytes.length } };
    }
  }
}

/** What the word of a head begins with that has the tags of its call. */
const tagsMark = 'tags:';

/** The tags of a call as the last word of its head; nothing if there are none. Base64: a head has no brackets inside. */
function tagsWord(tags: readonly Tag[] | undefined): string {
  if (!tags || tags.length === 0) return '';
  const pairs = tags.map(({ name, value }) => [name, value]);
  return `,"${tagsMark}${Buffer.from(JSON.stringify(pairs)).toString('base64')}"`;
}

/** @throws Error when the word is damaged. */
function tagsIn(words: readonly unknown[]): readonly Tag[] | null {
  const last = words.at(-1);
  if (typeof last !== 'string' || !last.startsWith(tagsMark)) return null;
  const pairs = listOf(JSON.parse(Buffer.from(last.slice(tagsMark.length), 'base64').toString()));
  return pairs.map((pair) => {
    const [name, value] = listOf(pair);
    return { name: textOf(name), value: textOf(value) };
  });
}

/** The row of an ended call, as it was written before where it was; good until the next row is written. */
export function rowOf(entry: Extract<Entry, { kind: 'close' | 'refused' }> | WrittenEntry): RowBytes {
  if (entry.written === undefined) return callRow(entry.call);
  return { bytes: entry.written, start: entry.start, end: entry.end };
}

/** The head of a payload with a marker, and where its row begins. @throws Error when it has none. */
export function headOf(payload: Buffer): { readonly head: string; readonly rowAt: number } {
  const rowAt = payload.indexOf(closingBracket) + 1;
  if (rowAt === 0) throw new Error('a journal record lacks its head');
  return { head: payload.toString('latin1', 1, rowAt), rowAt };
}

/** @throws Error when the payload is not one that this version made. */
export function decodeEntry(payload: Buffer): Entry {
  if (payload[0] !== marker) throw new Error('a journal record lacks its marker');
  const { head, rowAt } = headOf(payload);
  const words = listOf(JSON.parse(head));
  const [made, kind, callId, funding, atMs, holdNano, tokens] = words;
  if (made !== layoutVersion)
    throw new Error(`journal record of version ${String(made)}, expected ${layoutVersion}`);
  const row = payload.subarray(rowAt);
  const id = textOf(callId);
  if (kind === 'keep') return { kind, callId: id, resources: readResources(JSON.parse(row.toString())) };
  const tags = tagsIn(words);
  const entry = { callId: id, call: { ...readCallRow(row), ...(tags && { tags }) } };
  switch (kind) {
    case 'open':
      return {
        kind,
        ...entry,
        funding: readFunding(funding),
        atMs: Number(atMs),
        holdNano: BigInt(textOf(holdNano)),
        tokens: Number(tokens),
      };
    case 'close':
      return { kind, ...entry, funding: readFunding(funding) };
    case 'checkpoint':
    case 'refused':
      return { kind, ...entry };
    default:
      throw new Error(`unknown journal record "${String(kind)}"`);
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('a journal record lacks a list');
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a journal record has another value in place of a string');
  return value;
}

/** Dimensions, whether there are nulls, type, length and lower bound. */
const headBytes = 20;

/**
 * The rows of these calls, in the order of their ids, as a PostgreSQL array in binary form: bytes that the journal
 * wrote, sent as they are.
 * @param type the database's number of `call_record`.
 */
export function arrayOf(type: number, entries: readonly SettledEntry[]): Buffer {
  const inOrder = entries.toSorted((one, other) => (one.callId < other.callId ? -1 : 1));
  let bytes = Buffer.allocUnsafe(headBytes + inOrder.reduce((sum, entry) => sum + guessedBytes(entry), 0));
  let at = headBytes;
  for (const [index, value] of [1, 0, type, inOrder.length, 1].entries())
    bytes.writeUInt32BE(value, index * 4);
  for (const entry of inOrder) {
    const row = rowOf(entry);
    const length = row.end - row.start;
    if (at + 4 + length > bytes.length) bytes = Buffer.concat([bytes.subarray(0, at)], (at + length) * 2);
    bytes.writeInt32BE(length, at);
    row.bytes.copy(bytes, at + 4, row.start, row.end);
    at += 4 + length;
  }
  return bytes.subarray(0, at);
}

/** Those that the journal has not written are few, and encoded once. */
function guessedBytes(entry: SettledEntry): number {
  return entry.written === undefined ? 1000 : 4 + entry.end - entry.start;
}

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
    endReason: wordOf(endReasons, row.text('end_reason') ?? 'completed'),
    usageSource: wordOf(['reported', 'estimated', 'none'] as const, row.text('usage_source') ?? 'none'),
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

const readFunding = (value: unknown) => wordOf(['lease', 'row', 'none'] as const, value);
