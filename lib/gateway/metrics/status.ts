import type { LeaseTotals } from '#lib/gateway/admission/lease-book';
import type { JobCounts } from '#lib/gateway/jobs/jobs';
import type { OfferStatus } from '#lib/gateway/metrics/offers';
import type { SocketKind } from '#lib/gateway/metrics/tally';

/** The state of a gateway process, read on demand. */
export interface ProcessState {
  /** Whether it admits new calls. */
  readonly ready: boolean;
  /** Whether the database answers. */
  readonly databaseUp: boolean;
  readonly callsInFlight: number;
  /** Open WebSockets, by what they are for. */
  readonly sockets: Readonly<Record<SocketKind, number>>;
  /** Whether the store of shared limits answers; null: only this process counts. */
  readonly limitStore: boolean | null;
  /** Ended calls that are not in the database yet. */
  readonly journalBacklog: number;
  /** How long the oldest of them has waited, ms; 0: there is none. */
  readonly journalOldestMs: number;
  /** Journal records that are not in the ledger because they are damaged, or refused by the database. */
  readonly setAside: { readonly damaged: number; readonly rejected: number };
  readonly leases: readonly LeaseTotals[];
  readonly jobs: Readonly<JobCounts>;
  /** Since the start: calls whose content was kept, and calls whose content was lost (contract: content/beside). */
  readonly content: { readonly kept: number; readonly lost: number };
  /** Whether the database or the store took the content that was last written; null: none was written yet. */
  readonly contentPlace: boolean | null;
}

/** The answer to `status` on its run socket, as JSON. */
export interface ProcessStatus extends Pick<ProcessState, 'ready' | 'callsInFlight' | 'journalBacklog'> {
  readonly pid: number;
  /** Its number among the workers of the machine; null: it is the only process. */
  readonly worker: number | null;
  readonly offers: readonly OfferStatus[];
}

export function statusText(
  pid: number,
  worker: number | null,
  { ready, callsInFlight, journalBacklog }: ProcessState,
  offers: readonly OfferStatus[],
): string {
  const status: ProcessStatus = { pid, worker, ready, callsInFlight, journalBacklog, offers };
  return JSON.stringify(status);
}
