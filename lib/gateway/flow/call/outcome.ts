import type { Refusal } from '#lib/core/errors';
import { type Charge, noCharge } from '#lib/gateway/flow/call/charge';
import type { CredentialUse } from '#lib/gateway/limits/credential-limits';
import type { AttemptRecord, EndReason } from '#lib/gateway/settlement/pure/entry';

/** How a call is going and how it ended: written by the attempts, the relay, the error exit and the accounting. */
export interface Outcome {
  /** Of the answer to the client; 0: none yet. */
  status: number;
  refusal: Refusal | null;
  readonly attempts: AttemptRecord[];
  /** The current hold: it grows with a stream that exceeds it (contract: money/hold-grows), nano-dollars. */
  holdNano: bigint;
  charge: Charge;
  /** A job that is charged when it completes: this call costs nothing. */
  jobOpened: boolean;
  firstByteMono: number | null;
  /** Time that the provider took, ms: the rest of the latency is ours. */
  upstreamMs: number;
  /** From the call's start to the answering attempt's without what earlier attempts took, ms: ours. */
  leadMs: number;
  /** What the newest attempt counts as against the limits of its credential; null: it has none. */
  credentialUse: CredentialUse | null;
  /** The client has left. */
  gone: boolean;
  /** All of the answer that matters was relayed before that: its family's own end (contract: routing/own-end). */
  delivered: boolean;
  /** A provider's answer came whole and without an error. */
  whole: boolean;
  /** It was answered with a kept answer; null: it was not (contract: repeats/marks). */
  repeated: 'repeat' | 'cache' | null;
  /** Written only by `endCall`; null while the call runs. */
  endReason: EndReason | null;
}

/** The outcome of a call that has just arrived. */
export function noOutcome(): Outcome {
  return {
    status: 0,
    refusal: null,
    attempts: [],
    holdNano: 0n,
    charge: noCharge,
    jobOpened: false,
    firstByteMono: null,
    upstreamMs: 0,
    leadMs: 0,
    credentialUse: null,
    gone: false,
    delivered: false,
    whole: false,
    repeated: null,
    endReason: null,
  };
}
