import type { JobSight, JobState, NewJob } from '#lib/core/facts/job';
import type { ResourceKind } from '#lib/core/facts/resource';
import type { FamilyId } from '#lib/core/families/ids';
import type { Ending } from '#lib/gateway/jobs/end';

/** A job as its row says. */
export interface StoredJob
  extends Omit<NewJob, 'sight' | 'workspaceId' | 'keyId' | 'priceVersionId' | 'offerId'> {
  readonly state: JobState;
  readonly view: JobSight['view'];
  /** Polls so far, the one that this row was taken for included. */
  readonly polls: number;
  /** Polls in a row that found nothing. */
  readonly misses: number;
  /** Its hold was released without an end. */
  readonly lost: boolean;
  readonly settled: boolean;
}

/** How a settlement went; null: it was settled before, nothing was changed. */
export type Settled = 'charged' | 'released' | null;

/** Where jobs and their money stand: PostgreSQL behind `jobs/store`. Times are ms since the epoch. */
export interface JobStore {
  /** Idempotent by call id. @param nextPollAtMs null: it has ended, and is settled next. */
  open(job: NewJob, nextPollAtMs: number): Promise<void>;
  find(callId: string): Promise<StoredJob | null>;
  /**
   * At most `most` jobs whose poll is due, the oldest first, none of the providers in `busy`: nobody else
   * gets them before `leasedUntilMs`.
   */
  takeDue(wanted: {
    readonly nowMs: number;
    readonly leasedUntilMs: number;
    readonly most: number;
    readonly busy: readonly string[];
  }): Promise<readonly StoredJob[]>;
  /** Jobs whose poll is due after `beyondMs` are due now. */
  hasten(nowMs: number, beyondMs: number): Promise<void>;
  /** What an unsettled job shows now. @param next absent fields stay as they are. */
  note(
    callId: string,
    next: { readonly sight?: JobSight; readonly misses?: number; readonly nextPollAtMs?: number },
  ): Promise<void>;
  /** Its removal goes to the provider while it is in this state. */
  noteRemoving(callId: string, state: JobState): Promise<void>;
  /** Releases its hold without an end. */
  lose(callId: string, atMs: number, nextPollAtMs: number): Promise<boolean>;
  /** Ends a job once: its charge and all effects in one transaction, whose time by the database is its end. */
  settle(callId: string, ending: Ending): Promise<Settled>;
  /** The client had it removed: lists no longer show it. */
  markRemoved(callId: string, atMs: number): Promise<void>;
  list(
    workspaceId: string,
    kind: ResourceKind,
    page: {
      readonly after: string | null;
      readonly limit: number;
      readonly order: 'asc' | 'desc';
      /** Older ones are no longer kept. */
      readonly sinceMs: number;
    },
  ): Promise<{ readonly views: readonly Readonly<Record<string, unknown>>[]; readonly more: boolean }>;
}

/** Columns of `StoredJob` in the table `job`. */
export const storedColumns = `call_id, family, kind, upstream_id, provider_id, model_id, upstream_model,
  hold_nano::text AS hold_nano, facts, state, view, created_at, polls, misses, lost_at, settled_at`;

export interface StoredRow {
  readonly call_id: string;
  readonly family: FamilyId;
  readonly kind: ResourceKind;
  readonly upstream_id: string;
  readonly provider_id: string;
  readonly model_id: string;
  readonly upstream_model: string;
  readonly hold_nano: string;
  readonly facts: NewJob['facts'];
  readonly state: JobState;
  readonly view: JobSight['view'];
  readonly created_at: Date;
  readonly polls: number;
  readonly misses: number;
  readonly lost_at: Date | null;
  readonly settled_at: Date | null;
}

export function storedJob(row: StoredRow): StoredJob {
  return {
    callId: row.call_id,
    family: row.family,
    kind: row.kind,
    id: row.upstream_id,
    providerId: row.provider_id,
    modelId: row.model_id,
    upstreamModel: row.upstream_model,
    holdNano: BigInt(row.hold_nano),
    facts: row.facts,
    state: row.state,
    view: row.view,
    createdAtMs: row.created_at.getTime(),
    polls: row.polls,
    misses: row.misses,
    lost: row.lost_at !== null,
    settled: row.settled_at !== null,
  };
}
