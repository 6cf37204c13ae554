import type { Logger } from 'pino';
import type { Coordinator } from '#lib/gateway/admission/coordinator';
import type { SharedLimits } from '#lib/gateway/limits/shared-limits';
import type { Journal } from '#lib/gateway/settlement/pure/entry';
import type { Clock } from '#lib/platform/clock';
import type { Env } from '#lib/platform/env/env';
import type { ServingContext } from '#lib/programs/process/workers/serving-context';
import type { ExportState } from '#lib/programs/telemetry/exporter';

export interface BooksParts extends Pick<ServingContext, 'db' | 'worker'> {
  readonly env: Pick<Env, 'dataDir' | 'telemetry' | 'encryptionKey' | 'oldEncryptionKeys' | 'outage'>;
  readonly ownerId: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Limits that other processes share; null: this process counts separately. */
  readonly shared: SharedLimits | null;
  report(error: unknown, callId: string | null): void;
}

/** How this process claims money and brings calls to the ledger (contract: durability/settlement-modes). */
export interface Books {
  readonly journal: Journal;
  readonly coordinator: Coordinator;
  /** Ended calls that the database does not have yet. */
  backlog(): number;
  /** How long the oldest of them has waited, ms; 0: none is waiting. */
  oldestMs(): number;
  setAside(): { readonly damaged: number; readonly rejected: number };
  /** The state of the exporter; null while it is off. */
  telemetry(): ExportState | null;
  /** Posts the remaining calls, and returns the leases. */
  close(): Promise<void>;
}
