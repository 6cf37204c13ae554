import type { Clock } from '#lib/clock';
import type { Breaker } from '#lib/limits/breaker';
import type { LimitStore } from '#lib/limits/permit-request';
import type { Fleet } from '#lib/limits/share';

/** What the queues of all workspaces share in a process. */
export interface LimitQueueParts {
  readonly clock: Clock;
  readonly store: LimitStore;
  readonly breaker: Breaker;
  /** Unique for each life of this process, without a dot. */
  readonly process: string;
  fleet(): Fleet;
  /** Counts up, for turns and names of entries. */
  next(): number;
  /** Runs `work` after `ms`. @returns what cancels it. */
  later(ms: number, work: () => void): () => void;
  onFailure(error: unknown): void;
  onAnswer(): void;
}
