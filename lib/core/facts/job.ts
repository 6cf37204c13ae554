import type { CredentialFacts, Keeper } from '#lib/core/facts/credential';
import type { ResourceKind } from '#lib/core/facts/resource';
import type { FamilyId } from '#lib/core/families/ids';
import type { UsageReport } from '#lib/core/metering/usage';

/** Facts of a create request by which the job is priced at its end ("seconds", "size", "samples"); plain JSON. */
export type JobFacts = Readonly<Record<string, string | number>>;

/** Facts of every family's jobs: the service tier that was asked for, and whether the provider runs tools. */
export function askedFacts(ask: {
  readonly serviceTier: string | null;
  readonly serverTools?: true;
}): JobFacts {
  return {
    ...(ask.serviceTier === null ? {} : { serviceTier: ask.serviceTier }),
    ...(ask.serverTools ? { serverTools: 1 } : {}),
  };
}

/** The fee of a job that an own key made, as its charge needs it; none for other credentials. */
export function feeFacts({ own }: Pick<CredentialFacts, 'own'>): JobFacts {
  return own ? { ownKeyFee: own.feePoints } : {};
}

/** In hundredths of a percent; undefined: it is charged at list price. */
export function feePointsOf({ ownKeyFee }: JobFacts): number | undefined {
  return typeof ownKeyFee === 'number' ? ownKeyFee : undefined;
}

/** What a provider says of a job. `queued` has not run yet; the last three are ends. */
export type JobState = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';

/** A job as one answer of its provider shows it. */
export interface JobSight {
  readonly state: JobState;
  /** What it used, once it completed (or was cancelled and says so); null: nothing said. */
  readonly report: UsageReport | null;
  /** What lists show of it, prompts left out; null where the family has no list. */
  readonly view: Readonly<Record<string, unknown>> | null;
}

/** Where the results of a batch are, one line each. */
export interface BatchResults {
  /** After the provider's versioned root. */
  readonly path: string;
  /** The file that they are, which belongs to the workspace; absent: they are none. */
  readonly file?: { readonly id: string; readonly purpose: 'output' | 'error' };
}

/** A family's jobs: pure. The create answer and every poll answer are read alike. */
export interface JobReader {
  readonly kind: ResourceKind;
  /** Path and query after the provider's versioned root where the job's state is read with GET. */
  pollPath(job: { readonly id: string; readonly upstreamModel: string }): string;
  /** What a job is by now, for a request that makes another of it; absent: it is what was asked for. */
  made?(facts: JobFacts, view: Readonly<Record<string, unknown>>): JobFacts;
  /**
   * Of a batch that has ended, as `view` shows it: its results; if lines are in several, the first one counts. Absent:
   * its jobs have no lines.
   */
  results?(job: { readonly id: string }, view: JobSight['view']): readonly BatchResults[];
  /** Of such a batch: how many lines the provider says it has answered. Absent as above. */
  answered?(view: JobSight['view']): number;
  /** null: the answer is not one of a job (another shape, an error page). */
  read(facts: JobFacts, answer: unknown): JobSight | null;
}

/** A job as it begins: written before its create answer goes to the client (contract: jobs/jobs). */
export interface NewJob extends Keeper {
  /** The create call's id: the job's id and its hold's. */
  readonly callId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly family: FamilyId;
  readonly kind: ResourceKind;
  /** The provider's id of it. */
  readonly id: string;
  readonly modelId: string;
  readonly upstreamModel: string;
  readonly offerId: string;
  readonly priceVersionId: string;
  readonly holdNano: bigint;
  readonly facts: JobFacts;
  readonly sight: JobSight;
  readonly createdAtMs: number;
}

/** What the pipeline asks of the jobs of this gateway; money moves behind it, once per job. */
export interface Jobs {
  /** One transaction: the job, its resource, and its hold, which from now on survives every process. */
  open(job: NewJob): Promise<void>;
  /**
   * An answer (parsed JSON) showed the job to a client: read by the job's own facts, an end is settled
   * now. `callId` is the job's. Properties, so that an implementation that takes less does not compile.
   */
  readonly saw: (callId: string, answer: unknown) => Promise<void>;
  /**
   * Before DELETE or cancel goes to the provider: its state is read and, at an end, settled.
   * @returns the state last read.
   */
  readFirst(callId: string): Promise<JobState>;
  /**
   * The provider has deleted or cancelled it: what ran is charged as its answer (parsed JSON, null when
   * it was none) reports, else its hold; what was still queued is released.
   */
  readonly removed: (callId: string, before: JobState, answer: unknown) => Promise<void>;
  /** Its current facts, as far as an answer reported them; null: there is no such job. */
  made(callId: string): Promise<JobFacts | null>;
  /** Whether a job is still to be charged; false: there is no such job. */
  owes(callId: string): Promise<boolean>;
  /** What lists show, newest first (`order` asc: oldest first); `after` is a provider's id. */
  list(
    workspaceId: string,
    kind: ResourceKind,
    page: {
      readonly family: FamilyId;
      readonly after: string | null;
      readonly limit: number;
      readonly order: 'asc' | 'desc';
    },
  ): Promise<{ readonly views: readonly Readonly<Record<string, unknown>>[]; readonly more: boolean }>;
}
