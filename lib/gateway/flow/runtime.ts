import type { Jobs } from '#lib/core/facts/job';
import type { FileRoom, Resources } from '#lib/core/facts/resource';
import type { Catalogue } from '#lib/core/facts/snapshot';
import type { Coordinator } from '#lib/gateway/admission/coordinator';
import type { Access } from '#lib/gateway/clouds/access';
import type { ContentKeeper } from '#lib/gateway/content/keeper';
import type { BodyBudget } from '#lib/gateway/flow/body-budget';
import type { RefusalPace } from '#lib/gateway/flow/refusal-pace';
import type { Drains } from '#lib/gateway/flow/relay/drains';
import type { SignOfLife } from '#lib/gateway/flow/relay/live-reply';
import type { BodyPace } from '#lib/gateway/flow/upload/pace';
import type { SpoolRoom } from '#lib/gateway/flow/upload/spool';
import type { UploadTickets } from '#lib/gateway/flow/upload/ticket';
import type { Adjustments } from '#lib/gateway/jobs/adjustments/adjustments';
import type { CredentialCounts } from '#lib/gateway/limits/credential-limits';
import type { ChargeFlags } from '#lib/gateway/metrics/charge-flags';
import type { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import type { Tally } from '#lib/gateway/metrics/tally';
import type { KeptAnswers } from '#lib/gateway/repeats/kept-answers';
import type { Health } from '#lib/gateway/routing/health';
import type { Holders } from '#lib/gateway/routing/holders';
import type { Journal } from '#lib/gateway/settlement/pure/entry';
import type { KeyReader } from '#lib/gateway/snapshot/read';
import type { Pools } from '#lib/gateway/upstream/pools';
import type { Clock } from '#lib/platform/clock';

/**
 * All live state of the process, made once at start by `lib/programs/process/assemble`
 * (contract: durability/one-runtime).
 */
export interface Runtime {
  readonly clock: Clock;
  /** A new call or attempt id (UUIDv7); null when the wall clock is outside 2025–2100. */
  newId(): string | null;
  /** X-Request-Id when `newId` gave null: `noid-` + 16 hex digits (contract: request/no-request-id). */
  fallbackId(): string;
  /** null: the resolver is not configured (no DATABASE_URL or KEY_PEPPER in a host's own Next). */
  readonly keys: KeyReader | null;
  catalogue(): Catalogue;
  /** null: the coordinator could not start. */
  readonly coordinator: Coordinator | null;
  readonly journal: Journal | null;
  /** What providers store for workspaces; null: this process cannot record anything. */
  readonly resources: Resources | null;
  /** Limits the files that workspaces have stored; null as above. */
  readonly fileRoom: FileRoom | null;
  /** Videos, long-running operations, background responses, batches; null as above. */
  readonly jobs: Jobs | null;
  /** Corrects estimated charges by the usage of stored responses; null as above. */
  readonly adjustments: Adjustments | null;
  readonly pools: Pools;
  /** Tokens and keys of clouds. */
  readonly access: Access;
  readonly health: Health;
  /** Counts attempts against the limits that credentials have of their own. */
  readonly credentialCounts: CredentialCounts;
  /** Which providers hold the prompt caches of running conversations. */
  readonly holders: Holders;
  readonly limits: {
    readonly maxBodyBytes: number;
    readonly maxUploadBytes: number;
    /** Minimum pace of request bodies. */
    readonly bodyPace: BodyPace;
  };
  readonly signOfLife: SignOfLife;
  /** Whether a stream's connection is closed with it, for a proxy that would reuse it (contract: durability/stop). */
  readonly closesStreams: boolean;
  /** Origins whose pages may call from the browser (`CORS_ORIGINS`). */
  readonly origins: ReadonlySet<string>;
  /** Where multipart bodies lie while their calls run; null: this process has no place for them. */
  readonly uploads: SpoolRoom | null;
  /** Addresses of uploads in parts; null: this process cannot seal any. */
  readonly uploadTickets: UploadTickets | null;
  /** Clients reach it by TLS, if NEXTAUTH_URL says so and no proxy says otherwise. */
  readonly secure: boolean;
  /** Memory for large request bodies (`BODY_BUDGET_BYTES`). */
  readonly bodies: BodyBudget;
  /** Keeps the content of calls whose workspaces want it; null: this gateway keeps none. */
  readonly content: ContentKeeper | null;
  /** Answers that are kept to be repeated; null: this gateway keeps none. */
  readonly answers: KeptAnswers | null;
  /** Slows keys that are refused in floods. */
  readonly refusals: RefusalPace;
  /** Counts how calls end, for metrics. */
  readonly tally: Tally;
  /** Informs the operator of charges that do not fit the catalogue. */
  readonly chargeFlags: ChargeFlags;
  /** Informs the operator of offers that fail through a fault of their own. */
  readonly offerFaults: OfferFaults;
  /** Answers that are read to their end after the client left (contract: money/drain). */
  readonly drains: Drains;
  /** Unexpected errors: logged with the request id, never shown. */
  report(error: unknown, callId: string | null): void;
}

const slot = Symbol.for('model-gateway.runtime');

/** Next bundles its own copies of modules: one registered symbol makes all of them see one runtime. */
export function setRuntime(runtime: Runtime | null): void {
  (globalThis as Record<symbol, unknown>)[slot] = runtime;
}

export function getRuntime(): Runtime | null {
  return ((globalThis as Record<symbol, unknown>)[slot] as Runtime | undefined) ?? null;
}

type Starter = () => Promise<Runtime | null>;

const starterSlot = Symbol.for('model-gateway.runtime-starter');
const startingSlot = Symbol.for('model-gateway.runtime-starting');

/** Sets how a process without a runtime makes one: a host that runs only Next. */
export function setRuntimeStarter(start: Starter): void {
  (globalThis as Record<symbol, unknown>)[starterSlot] = start;
}

/** The runtime, made by the starter if there is none: once for all callers, and again after a failure. */
export async function findRuntime(): Promise<Runtime | null> {
  const known = getRuntime();
  const slots = globalThis as Record<symbol, unknown>;
  const start = slots[starterSlot] as Starter | undefined;
  if (known !== null || start === undefined) return known;
  slots[startingSlot] ??= start().finally(() => {
    slots[startingSlot] = undefined;
  });
  return slots[startingSlot] as Promise<Runtime | null>;
}
