import type { Spread } from './statistics.ts';

/** What the load process is to do. */
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

/** What it saw; times in ms. */
export interface LoadResult {
  readonly perSecond: number;
  /** Of a whole answer; of a stream the time to its first byte. */
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
  /** The server's processor time, share of one core: below 0.9 something else was the bound. */
  readonly serverCore: number;
  /** Resident memory that the streams added, KiB each; null where there are none. */
  readonly streamKib: number | null;
  /** What the server holds for each stream once garbage is collected, KiB; null where it does not tell. */
  readonly heldKib: number | null;
}

/** A server under test. */
export interface Target {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly key: string;
  /** Names to ask for: one fixed answer; a paced stream. */
  readonly models: { readonly whole: string; readonly stream: string };
  /** Where it writes what it holds, at SIGUSR2; null where it does not. */
  readonly heldFile: string | null;
  stop(): Promise<void>;
}

export type StartTarget = (bench: Bench) => Promise<Target>;

/** What every target is given. */
export interface Bench {
  readonly upstreamPort: number;
  /** Upstream model name of the paced stream: "pace/MS/CHUNKS". */
  readonly pace: string;
  /** A fresh directory of the bench. */
  readonly folder: string;
  /** null: the embedded database. */
  readonly databaseUrl: string | null;
  /** Leave a processor profile of the gateway in `results/`. */
  readonly profile: boolean;
}
