import type { Claim } from '#lib/admission/claim';
import type { Refusal } from '#lib/errors';
import type { Ask, Family, Operation } from '#lib/families/family';
import type { Arrival, HeaderList } from '#lib/gateway/lane';
import type { Runtime } from '#lib/gateway/runtime';
import type { JobState } from '#lib/jobs/job';
import { noUsage, type Usage, type UsageReport, type UsageSource } from '#lib/metering/usage';
import type { Resource } from '#lib/resources/resource';
import type { Plan, Target } from '#lib/routing/target';
import type { AttemptRecord, CallRecord, CostLine, EndReason } from '#lib/settlement/entry';
import type { Catalogue, KeySnapshot } from '#lib/snapshot/snapshot';

/** Status in the log of a call whose client left before any answer (contract: call-log/gone-before-answer). */
export const CLIENT_GONE = 499;

/** Operation in log and metrics of a call to an address that is not served. */
export const unserved = { family: 'unknown', name: 'unknown' } as const;

/** One gateway request on its way: each step of `serve` fills in its own part, once. */
export interface Call {
  readonly id: string;
  readonly clientRequestId: string | null;
  readonly startMs: number;
  readonly startMono: number;
  readonly arrival: Arrival;
  /** Headers that every answer of this call carries. */
  readonly headers: HeaderList;
  operation: Operation | null;
  family: Family | null;
  params: Readonly<Record<string, string>>;
  query: string;
  snapshot: KeySnapshot | null;
  ask: Ask | null;
  /** What the path names; the call is about it. */
  resource: Resource | null;
  /** The provider that keeps what the call is about or continues: its one target. */
  pinned: string | null;
  /** Metered total of the call that this one continues, tokens. */
  previousTokens: number;
  /** How the job stood before it was ended by this call. */
  jobBefore: JobState | null;
  /** A job that is charged when it completes: this call costs nothing. */
  jobOpened: boolean;
  /** As it stood when the call was planned: what its answer names is priced by it. */
  catalogue: Catalogue | null;
  plan: Plan | null;
  /** Holds its RPM unit and slots while its large body is read; the claim takes them over. */
  placed: boolean;
  claim: Claim | null;
  /** The hold as it stands: it grows with a stream that passes it (contract: money/hold-grows), nano-dollars. */
  holdNano: bigint;
  attempts: AttemptRecord[];
  /** Who answers, once an attempt did. */
  target: Target | null;
  status: number;
  refusal: Refusal | null;
  firstByteMono: number | null;
  /** Time that the provider took, ms: the rest of the latency is ours. */
  upstreamMs: number;
  /** From the call's start to the answering attempt's without what earlier attempts took, ms: ours. */
  leadMs: number;
  report: UsageReport | null;
  usage: Usage;
  usageSource: UsageSource;
  lines: readonly CostLine[];
  costNano: bigint;
  /** The price before the hold capped it: what the hold must grow to. */
  uncappedNano: bigint;
  flags: readonly string[];
  endReason: EndReason;
  gone: boolean;
}

/**
 * Opens the call: id, clock, and the headers that no answer may lack
 * (contract: request/request-id, request/client-request-id).
 */
export function openCall(runtime: Runtime, arrival: Arrival): Call & { idFailed: boolean } {
  const minted = runtime.newId();
  const id = minted ?? runtime.fallbackId();
  const clientId = arrival.headers['x-request-id'];
  return {
    idFailed: minted === null,
    id,
    clientRequestId: clientId !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(clientId) ? clientId : null,
    startMs: runtime.clock.now(),
    startMono: runtime.clock.mono(),
    arrival,
    headers: ['x-request-id', id, 'request-id', id],
    operation: null,
    family: null,
    params: {},
    query: '',
    snapshot: null,
    ask: null,
    resource: null,
    pinned: null,
    previousTokens: 0,
    jobBefore: null,
    jobOpened: false,
    catalogue: null,
    plan: null,
    placed: false,
    claim: null,
    holdNano: 0n,
    attempts: [],
    target: null,
    status: 0,
    refusal: null,
    firstByteMono: null,
    upstreamMs: 0,
    leadMs: 0,
    report: null,
    usage: noUsage,
    usageSource: 'none',
    lines: [],
    costNano: 0n,
    uncappedNano: 0n,
    flags: [],
    endReason: 'completed',
    gone: false,
  };
}

/** The row of the call log as things stand now (contract: call-log/row). */
export function recordOf(call: Call, nowMono: number): CallRecord {
  const latency = nowMono - call.startMono;
  return {
    id: call.id,
    clientRequestId: call.clientRequestId,
    atMs: call.startMs,
    workspaceId: call.snapshot?.workspace.id ?? '',
    keyId: call.snapshot?.key.id ?? '',
    family: (call.operation ?? unserved).family,
    operation: (call.operation ?? unserved).name,
    requestedModel: call.ask?.requestedModel ?? call.ask?.model ?? call.params.model ?? null,
    answeringModel: call.target?.model.id ?? null,
    provider: call.target?.offer.provider.id ?? null,
    status: call.status,
    errorCode: call.refusal === null || call.status === CLIENT_GONE ? null : call.refusal.code,
    streamed: call.ask?.stream ?? false,
    latencyMs: Math.round(latency),
    firstByteMs: call.firstByteMono === null ? null : Math.round(call.firstByteMono - call.startMono),
    overheadMs: Math.max(0, Math.round((latency - call.upstreamMs) * 1000) / 1000),
    endReason: call.endReason,
    usageSource: call.usageSource,
    flags: call.flags,
    usage: call.usage,
    lines: call.lines,
    costNano: call.costNano,
    holdNano: call.holdNano,
    priceVersionId: call.target?.price.id ?? null,
    userAgent: call.arrival.headers['user-agent']?.slice(0, 256) ?? null,
    attempts: call.attempts,
  };
}

/**
 * What a client calls its conversation, so that its calls can go where the prompt's cache is: the
 * families' own fields, else a session header. null: nothing said.
 */
export function conversationOf(call: Call): string | null {
  const { ask, arrival } = call;
  const named =
    ask?.scan.found.get('prompt_cache_key')?.value ?? ask?.scan.found.get('metadata.user_id')?.value;
  return typeof named === 'string' && named !== '' ? named : (arrival.headers['x-session-id'] ?? null);
}
