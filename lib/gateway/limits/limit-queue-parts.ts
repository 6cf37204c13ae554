import type { Breaker } from '#lib/gateway/limits/breaker';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import type { Fleet } from '#lib/gateway/limits/pure/share';
import type { Clock } from '#lib/platform/clock';

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
