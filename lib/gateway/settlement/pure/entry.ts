import type { Resource } from '#lib/core/facts/resource';
import type { Tag } from '#lib/core/facts/tags';
import { meteredUsage } from '#lib/core/metering/anomaly';
import type { CostLine } from '#lib/core/metering/cost-line';
import { ownListNano } from '#lib/core/metering/own-fee';
import type { Usage, UsageSource } from '#lib/core/metering/usage';
import type { Funding } from '#lib/gateway/admission/claim';

/** How a call ended (contract: call-log/end-reason). */
export const endReasons = [
  'completed',
  'client_gone',
  'upstream_error',
  'timeout',
  'interrupted',
  'refused',
] as const;
export type EndReason = (typeof endReasons)[number];

export interface AttemptRecord {
  readonly provider: string;
  readonly model: string;
  /** The name of the credential by which the provider was called. */
  readonly credential: string;
  readonly status: number | null;
  readonly error: string | null;
  /** ms after the call's start. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly upstreamRequestId: string | null;
  readonly possibleDuplicate: boolean;
  /** The provider's own code and the start of its message, masked (contract: call-log/provider-error). */
  readonly providerCode: string | null;
  readonly providerMessage: string | null;
  /** The protocol in which the provider was called; absent: the client's own. */
  readonly translatedTo?: string;
  /** Fields of the request that the translation left out; absent with `translatedTo`. */
  readonly lost?: readonly string[];
}

/** A row of the call log (contract: call-log/row). */
export interface CallRecord {
  readonly id: string;
  readonly clientRequestId: string | null;
  readonly atMs: number;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly family: string;
  readonly operation: string;
  readonly requestedModel: string | null;
  readonly answeringModel: string | null;
  readonly provider: string | null;
  readonly status: number;
  readonly errorCode: string | null;
  readonly streamed: boolean;
  readonly latencyMs: number;
  readonly firstByteMs: number | null;
  readonly overheadMs: number;
  readonly endReason: EndReason;
  readonly usageSource: UsageSource;
  readonly flags: readonly string[];
  readonly usage: Usage;
  readonly lines: readonly CostLine[];
  readonly costNano: bigint;
  readonly holdNano: bigint;
  readonly priceVersionId: string | null;
  readonly userAgent: string | null;
  readonly attempts: readonly AttemptRecord[];
  /** Whom it was for; absent: nothing was recorded. In the head of its journal record, not in its row. */
  readonly tags?: readonly Tag[];
}

/** What an admitted call may cost at each of its targets, for recovery after a kill. */
export interface OpenEntry {
  readonly kind: 'open';
  readonly callId: string;
  readonly atMs: number;
  readonly holdNano: bigint;
  /** Estimate that TPM counted, tokens. */
  readonly tokens: number;
  readonly funding: Funding;
  /** The call as far as it is known, `status` 0; recovery completes it. */
  readonly call: CallRecord;
}

/** At most 1 s apart while an answer streams: what it would cost if it ended here. */
export interface CheckpointEntry {
  readonly kind: 'checkpoint';
  readonly callId: string;
  readonly call: CallRecord;
}

/** Where a record ends in the journal of its owner, which is read and drained from its first file on. */
export interface JournalPlace {
  readonly file: number;
  /** Bytes from the file's beginning. */
  readonly end: number;
}

/** The last act of an admitted call; written before the last byte of the answer goes out. */
export interface CloseEntry {
  readonly kind: 'close';
  readonly callId: string;
  readonly funding: Funding;
  readonly call: CallRecord;
  readonly written?: undefined;
  /** Absent: it is in no file, or was set aside. */
  readonly place?: JournalPlace;
}

/** A call that was refused after its key resolved: a row of the log, no money. */
export interface RefusedEntry {
  readonly kind: 'refused';
  readonly callId: string;
  readonly call: CallRecord;
  readonly written?: undefined;
  readonly place?: JournalPlace;
}

/** What settlement counts of an ended call. */
export type CountedCall = Pick<
  CallRecord,
  | 'id'
  | 'workspaceId'
  | 'keyId'
  | 'atMs'
  | 'family'
  | 'requestedModel'
  | 'answeringModel'
  | 'provider'
  | 'status'
  | 'errorCode'
  | 'endReason'
  | 'costNano'
  | 'latencyMs'
  | 'firstByteMs'
  | 'tags'
> & {
  /** As metered: a reported figure that was reduced counts as reduced. */
  readonly usage: Readonly<Usage>;
  /** List price of a call by an own key, nano-dollars; 0n of any other. */
  readonly ownListNano: bigint;
  /** How many attempts it made. */
  readonly tried: number;
};

/** An end that the journal has written: until the drain comes, memory keeps its row as bytes, and little else. */
export interface WrittenEntry {
  readonly kind: 'close' | 'refused';
  readonly callId: string;
  readonly funding: Funding;
  readonly call: CountedCall;
  /** Holds the row from `start` to `end`, as the journal wrote it: the drain sends the same bytes. */
  readonly written: Buffer;
  readonly start: number;
  readonly end: number;
  readonly place?: JournalPlace;
}

/**
 * @param row its bytes, which do not change before the entry is in the database.
 * @param place absent: no file has it.
 */
export function writtenOf(
  entry: CloseEntry | RefusedEntry,
  { written, start, end }: Pick<WrittenEntry, 'written' | 'start' | 'end'>,
  place?: JournalPlace,
): WrittenEntry {
  const { kind, callId, call } = entry;
  const funding = kind === 'close' ? entry.funding : 'none';
  return { kind, callId, funding, call: countedOf(call), written, start, end, ...(place && { place }) };
}

/** What settlement counts of a call. */
export function countedOf(call: CallRecord): CountedCall {
  const { id, workspaceId, keyId, atMs, family, requestedModel, answeringModel, provider } = call;
  const { status, errorCode, endReason, costNano, latencyMs, firstByteMs, tags } = call;
  return {
    id,
    workspaceId,
    keyId,
    atMs,
    family,
    requestedModel,
    answeringModel,
    provider,
    status,
    errorCode,
    endReason,
    costNano,
    latencyMs,
    firstByteMs,
    usage: meteredUsage(call),
    ownListNano: ownListNano(call.lines),
    tried: call.attempts.length,
    ...(tags && tags.length > 0 && { tags }),
  };
}

/**
 * What a provider keeps for the workspace of a call, written before the client sees its id
 * (contract: jobs/recorded-first). A call may have several; the same resource may come again with what it used.
 */
export interface KeepEntry {
  readonly kind: 'keep';
  readonly callId: string;
  readonly resources: readonly Resource[];
  /** Their rows as a JSON array, once the journal has written it: the drain sends the same bytes. */
  readonly row?: Uint8Array;
  readonly place?: JournalPlace;
}

export type Entry = OpenEntry | CheckpointEntry | CloseEntry | RefusedEntry | KeepEntry;

/** A call that has ended. */
export type SettledEntry = CloseEntry | RefusedEntry | WrittenEntry;

/** What the drain brings to the database. */
export type DrainedEntry = SettledEntry | KeepEntry;

/** Whether the drain has to bring it to the database; the others serve only recovery. */
export function isDrained(entry: Entry): entry is Extract<Entry, DrainedEntry> {
  return entry.kind !== 'open' && entry.kind !== 'checkpoint';
}

/** The append-only file of this process (contract: durability/journal). */
export interface Journal {
  /**
   * Writes an entry; the appends of one tick share one write(2). Resolves when its bytes are with the kernel: a
   * SIGKILL loses nothing after that. Rejects when the write failed, which also stops admission: nobody has
   * the entry then.
   */
  append(entry: Entry): Promise<void>;
  /**
   * Keeps the end of a call whose append failed in memory, for the drain: what its client was told in the end.
   * Of refused calls no more than the memory for the drain takes.
   */
  remember(entry: CloseEntry | RefusedEntry): void;
}
