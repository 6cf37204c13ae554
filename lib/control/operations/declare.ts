import type { Pool } from 'pg';
import type { z } from 'zod';
import type { Payments } from '#lib/control/billing/payments/client';
import type { Actor } from '#lib/control/operations/actor';
import type { Fields, ValuesOf } from '#lib/control/operations/field/field';
import type { EveryWorkspace, Scope, WorkspaceScope } from '#lib/control/operations/scope';
import type { HeldSecret } from '#lib/control/operations/secret/prints';
import type { ReadStore, Store } from '#lib/control/operations/store';
import type { AccountRules } from '#lib/control/operations/user/account-rules';
import type { Catalogue } from '#lib/core/facts/snapshot';
import type { ActingRole, Permission } from '#lib/core/role';
import type { LimitUse } from '#lib/gateway/limits/pure/limit-book';
import type { LiveHealth } from '#lib/gateway/routing/live-health';
import type { Pools } from '#lib/gateway/upstream/pools';
import type { Change } from '#lib/platform/data/change';
import type { SealingKey } from '#lib/platform/sealing';

/**
 * Whose things an operation is about.
 * - `workspace`: of one workspace, which whoever asks must name.
 * - `subject`: of a workspace too, but found by an id of its own: operators need not name the workspace.
 * - `gateway`: of the gateway as a whole; operators alone.
 * - `self`: of whoever asks.
 */
export type Reach = 'workspace' | 'subject' | 'gateway' | 'self';

export interface ScopeOf {
  readonly workspace: WorkspaceScope;
  readonly subject: Scope;
  readonly gateway: EveryWorkspace;
  readonly self: null;
}

/** What `run` works with. */
export interface Context<R extends Reach = Reach> {
  readonly store: Store;
  readonly actor: Actor;
  readonly scope: ScopeOf[R];
  readonly role: ActingRole | null;
  /** Secret under which keys are hashed. */
  readonly keyPepper: string;
  /** Opens and seals the credentials of providers; null: this process has no ENCRYPTION_KEY. */
  readonly sealingKey: SealingKey | null;
  /** The secrets of this process; none: this adapter does not give them. */
  readonly heldSecrets: readonly HeldSecret[];
  /** How providers are reached; null: directly. */
  readonly pools: Pools | null;
  /** Where this process keeps its journal; null: it has none. */
  readonly journalDir: string | null;
  readonly nowMs: number;
  readonly accounts: AccountRules;
  /** The models and offers in force, with what this process may route to. */
  catalogue(): Catalogue | Promise<Catalogue>;
  /** What the gateway processes know of their offers. */
  health(): Promise<LiveHealth>;
  /** The database outside of any transaction, for `follow`. */
  readonly pool: Pool;
  /** Payments by card; null: the gateway is not set up for them. */
  readonly payments: Payments | null;
  /** What counts against the limits of a key, by gateway process of this machine; none: no process answered. */
  limitUse(keyId: string): Promise<readonly LimitUse[]>;
  /**
   * Every change of something that has a state calls it under the row's lock, before it writes.
   * @throws ControlRefused (conflict) when the caller's `If-Match` names another state.
   */
  expect(state: State): void;
}

/** What the `run` of a read works with. */
export interface ReadContext<R extends Reach = Reach> extends Context<R> {
  readonly store: ReadStore;
}

/** What an audit row and an entity tag are made of: the settings of a thing, as JSON, without secrets. */
export type State = Readonly<Record<string, unknown>>;

/** How a mutation ended. */
export interface Done<Out> {
  readonly result: Out;
  /** The id of what was changed, and its workspace (null: the gateway's own). */
  readonly subject: string;
  readonly workspaceId: string | null;
  /** As it was (null: new) and as it is (null: gone); the audit row keeps what differs. */
  readonly before: State | null;
  readonly after: State | null;
  /** What the audit row says besides: a reason, an overlap. */
  readonly detail?: State;
  /** What the snapshots of every process must learn. */
  readonly changes: readonly Change[];
}

/** Where `/api/v1` serves it; `{workspace}` is the slug, other names are fields of the input. */
export interface HttpBinding {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** "/workspaces/{workspace}/keys/{id}". */
  readonly path: string;
  /** The field that is the whole body; without one, the body names the fields. */
  readonly body?: string;
}

/** How the command line serves it, where the name alone does not say. */
export interface LineBinding {
  /** The command, where it is not the noun and the verb: "usage". */
  readonly command?: string;
  /** Arguments without a flag, in order: names of fields, or "workspace". */
  readonly arguments?: readonly string[];
  /** Whether `--workspace SLUG` may be given where `reach` does not demand it. */
  readonly workspace?: 'optional';
  /** What a list shows for people, in columns; without it, everything. */
  readonly columns?: readonly string[];
  /** What null means for people, by member of the answer, where "none" would say something else. */
  readonly unset?: Readonly<Record<string, string>>;
}

interface Declared<F extends Fields, Out, R extends Reach> {
  /** Noun and verb: "key.create". */
  readonly name: `${string}.${string}`;
  /** What it does, in one sentence; stands in the API's document and in `--help`. */
  readonly summary: string;
  readonly reach: R;
  /** null: whoever has a valid credential. */
  readonly permission: Permission | null;
  readonly fields: F;
  /** The answer as JSON. */
  readonly output: z.ZodType<Out>;
  /** None: it is no part of the management API. */
  readonly http: readonly HttpBinding[];
  /** null: it is no command. */
  readonly line: LineBinding | null;
  /** The answer for people, on the command line; without it, its fields under each other. */
  text?(output: NoInfer<Out>): string;
  /** Where a workspace need not be named: the zone of the thing's own, in which dates of the input are read. */
  zone?(store: Store, input: unknown): Promise<string | null>;
  /** Why an answer is bad news by itself (the command line exits with 1); null: it is not. */
  failed?(output: NoInfer<Out>): string | null;
}

export interface Read<F extends Fields = Fields, Out = unknown, R extends Reach = Reach>
  extends Declared<F, Out, R> {
  readonly kind: 'read';
  /** What of the answer can be changed: its entity tag. None: the answer has no tag. */
  state?(output: NoInfer<Out>): State;
  run(context: ReadContext<R>, input: ValuesOf<F>): Promise<Out>;
}

export interface Mutation<F extends Fields = Fields, Out = unknown, R extends Reach = Reach>
  extends Declared<F, Out, R> {
  readonly kind: 'create' | 'change';
  /**
   * It changes who may do what in a workspace: no other mutation of the workspace runs at the same time, so
   * that nobody acts under a role that was just taken from them.
   */
  readonly alone?: boolean;
  /** What its transaction needs beyond that of others. */
  readonly transaction?: Transaction;
  run(context: Context<R>, input: ValuesOf<F>): Promise<Done<Out>>;
  /**
   * What follows the commit, where another service takes part: it must not hold a transaction open, nor learn of what is
   * rolled back. Also runs for the stored answer of a repeated request, so it must be repeatable.
   * @throws ControlRefused; what was committed stays.
   */
  follow?(context: Context<R>, result: Out): Promise<Out>;
}

export interface Transaction {
  /** How long it may wait to begin (at least what its database says), and how long it may run; ms. */
  readonly waitMs?: number;
  readonly limitMs: number;
  /** A table that nobody else changes meanwhile; those who read it are not held up. */
  readonly table?: 'provider';
}

export type Operation = Read | Mutation;

/** Declares a read. */
export function read<F extends Fields, Out, R extends Reach>(
  operation: Omit<Read<F, Out, R>, 'kind'>,
): Read<F, Out, R> {
  return { kind: 'read', ...operation };
}

/** Declares a mutation that makes something new; on `/api/v1` it answers 201. */
export function create<F extends Fields, Out, R extends Reach>(
  operation: Omit<Mutation<F, Out, R>, 'kind'>,
): Mutation<F, Out, R> {
  return { kind: 'create', ...operation };
}

/** Declares a mutation of something that is there. */
export function change<F extends Fields, Out, R extends Reach>(
  operation: Omit<Mutation<F, Out, R>, 'kind'>,
): Mutation<F, Out, R> {
  return { kind: 'change', ...operation };
}
