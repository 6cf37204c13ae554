import type { Runtime } from '#lib/gateway/flow/runtime';
import type { OfferStatus } from '#lib/gateway/metrics/offers';
import type { ProcessState } from '#lib/gateway/metrics/status';
import type { Answers } from '#lib/gateway/snapshot/announce';
import type { ExportState } from '#lib/programs/telemetry/exporter';

/** The gateway of this process: the runtime that requests use, and how it stops. */
export interface GatewayProcess {
  readonly runtime: Runtime;
  /** What it says to other processes of this machine; parts that are made later add theirs. */
  readonly answers: Answers;
  /** Reads the change feed now: a change made by this process is in force at once. */
  pollNow(): Promise<void>;
  /** Whether new calls can be admitted; /api/health answers by it. */
  ready(): boolean;
  /** How the process and its offers stand now; for metrics. */
  state(): ProcessState;
  offers(): readonly OfferStatus[];
  /** How the exporter stands; null while it is off. */
  telemetry(): ExportState | null;
  /** Refuses new calls from now on and waits until those that run have settled, at most `patienceMs`. */
  finishCalls(patienceMs: number): Promise<void>;
  /** Posts what the journal holds, gives the leases back, closes sockets and pools. */
  stop(): Promise<void>;
}
