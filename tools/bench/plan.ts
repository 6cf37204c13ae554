import type { Spread } from './statistics.ts';

/** The task of the load process. */
export interface LoadPlan {
  /** closed: as fast as answers come. open: by the clock. streams: many at once. */
  readonly kind: 'closed' | 'open' | 'streams';
  readonly port: number;
  readonly key: string;
  readonly model: string;
  readonly connections: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** Open loop: requests a second. */
  readonly perSecond: number;
}

/** What it measured; times in ms. */
export interface LoadResult {
  readonly perSecond: number;
  /** Of a whole answer; for a stream, the time to its first byte. */
  readonly latencyMs: Spread;
  /** From the upstream's write to the client's read, a stream's event. */
  readonly transitMs: Spread;
  /** Between two events of one stream. */
  readonly gapMs: Spread;
  /** Answers that were not 200. */
  readonly errors: number;
}

/** One measurement of one target. */
export interface Measured extends LoadResult {
  readonly target: string;
  readonly round: number;
  /** The server's processor time as a share of one core; below 0.9, something else was the limit. */
  readonly serverCore: number;
  /** Resident memory added per stream, KiB; null: no streams. */
  readonly streamKib: number | null;
  /** Memory that the server holds per stream after garbage collection, KiB; null: it does not report it. */
  readonly heldKib: number | null;
}

/** A server under test. */
export interface Target {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly key: string;
  /** Model names: one for a fixed answer, one for a paced stream. */
  readonly models: { readonly whole: string; readonly stream: string };
  /** The file to which it writes the memory that it holds, at SIGUSR2; null: it does not. */
  readonly heldFile: string | null;
  stop(): Promise<void>;
}

export type StartTarget = (bench: Bench) => Promise<Target>;

/** What every target is given. */
export interface Bench {
  readonly upstreamPort: number;
  /** A fresh directory for the bench. */
  readonly folder: string;
}
