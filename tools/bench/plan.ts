import type { Shape } from './bodies/shapes.ts';
import type { Spread } from './statistics.ts';

/** The task of the load process. */
export interface LoadPlan {
  /**
   * closed: as fast as answers come. open: by the clock. streams: many at once. first-word: streams by the clock, beside
   * many that run.
   */
  readonly kind: 'closed' | 'open' | 'streams' | 'first-word';
  readonly port: number;
  readonly key: string;
  readonly model: string;
  /** First word: of the streams that run beside the measured ones. */
  readonly besideModel: string;
  readonly shape: Shape;
  /** First word: how many streams run beside the measured ones. */
  readonly connections: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** Open loop and first word: requests a second. */
  readonly perSecond: number;
}

/** What it measured; times in ms. */
export interface LoadResult {
  readonly perSecond: number;
  /** Answers that were measured. */
  readonly answers: number;
  /** Events of streams that were read. */
  readonly events: number;
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
  /** Processor time of the server and its child processes (its database) for each answer, ms. */
  readonly answerMs: number;
  /** The same for each event of a stream, with its share of the call, µs; null: no streams. */
  readonly eventUs: number | null;
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
  /** Model names: for a fixed answer, for a paced stream of seconds, and for one of a tenth of a second. */
  readonly models: { readonly whole: string; readonly stream: string; readonly brief: string };
  /** The file to which it writes the memory that it holds, at SIGUSR2; null: it does not. */
  readonly heldFile: string | null;
  stop(): Promise<void>;
}

export type StartTarget = (bench: Bench) => Promise<Target>;

/** What every target is given. */
export interface Bench {
  readonly upstreamPort: number;
  /** Further flags of every server's Node. */
  readonly flags: readonly string[];
  /** A fresh directory for the bench. */
  readonly folder: string;
}
