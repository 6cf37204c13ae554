/** What the bench tells a host of simulated processes. */
export type ToHost =
  | { readonly kind: 'start'; readonly plan: HostPlan }
  /** From now on calls come. */
  | { readonly kind: 'load' }
  | { readonly kind: 'count' }
  | { readonly kind: 'stop' };

export interface HostPlan {
  readonly processes: number;
  readonly databaseUrl: string;
  /** null: limits are counted in PostgreSQL. */
  readonly redisUrl: string | null;
  /** Calls a second of the fleet's time, of each process. */
  readonly rate: number;
  /** Secrets by workspace, the busiest first. */
  readonly workspaces: readonly (readonly string[])[];
}

/** What a host has counted since its start. */
export interface HostCount {
  readonly calls: number;
  readonly refused: number;
  /** Claims that could not be decided in memory, and waited for a store. */
  readonly waited: number;
  /** How long those waited together, ms of the fleet's time. */
  readonly waitedMs: number;
  /** Messages to PostgreSQL that were answered. */
  readonly roundTrips: number;
  /** Ended calls that the database does not have yet. */
  readonly backlog: number;
  /** Processor time of the host, µs. */
  readonly spentUs: number;
  readonly errors: readonly string[];
}

export type FromHost = { readonly kind: 'ready' } | ({ readonly kind: 'counted' } & HostCount);
