import type { Pool } from 'pg';
import type { z } from 'zod';
import type { Payments } from '#lib/control/billing/payments/client';
import type { Actor } from '#lib/control/operations/actor';
import type { Fields, ValuesOf } from '#lib/control/operations/field/field';
import type { EveryWorkspace, Scope, WorkspaceScope } from '#lib/control/operations/scope';
import type { HeldSecret } from '#lib/control/operations/secret/prints';
import type { ReadStore, Store } from '#lib/control/operations/store';
import type { AccountRules } from '#lib/control/operations/user/account-rules';
import type { OwnKeyRules } from '#lib/core/facts/own-key-rules';
import type { Catalogue } from '#lib/core/facts/snapshot';
import type { ActingRole, Permission } from '#lib/core/role';
import type { Access } from '#lib/gateway/clouds/access';
import type { ObjectReader } from '#lib/gateway/content/objects/object-store';
import type { LimitUse } from '#lib/gateway/limits/pure/limit-book';
import type { LiveHealth } from '#lib/gateway/routing/live-health';
import type { Pools } from '#lib/gateway/upstream/pools';
import type { Change } from '#lib/platform/data/change';
import type { SealingKey } from '#lib/platform/sealing';

/**
 * Whose data an operation is about.
 * - `workspace`: one workspace, which the caller must name.
 * - `subject`: also of a workspace, but found by its own id: operators need not name the workspace.
 * - `gateway`: the gateway as a whole; operators only.
 * - `self`: the caller.
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
  /** The secret used to hash keys. */
  readonly keyPepper: string;
  /** Opens and seals provider credentials; null: this process has no ENCRYPTION_KEY. */
  readonly sealingKey: SealingKey | null;
  /** Reads kept content from an object store; null: this adapter does not. */
  readonly objects: ObjectReader | null;
  /** The secrets of this process; empty: this adapter does not provide them. */
  readonly heldSecrets: readonly HeldSecret[];
  /** How providers are reached; null: directly. */
  readonly pools: Pools | null;
  /** Tokens and keys of clouds; null: none can be had here. */
  readonly access: Access | null;
  /** Directory of this process's journal; null: it has none. */
  readonly journalDir: string | null;
  readonly nowMs: number;
  readonly accounts: AccountRules;
  /** What the operator allows workspaces to store. */
  readonly ownKeys: OwnKeyRules;
  /** The models and offers in force, with what this process may route to. */
  catalogue(): Catalogue | Promise<Catalogue>;
  /** What the gateway processes know about their offers. */
  health(): Promise<LiveHealth>;
  /** The database outside of any transaction, for `follow`. */
  readonly pool: Pool;
  /** Payments by card; null: the gateway is not set up for them. */
  readonly payments: Payments | null;
  /** What counts against the limits of a key, by gateway process of this machine; empty: no process answered. */
  limitUse(keyId: string): Promise<readonly LimitUse[]>;
  /**
   * Every change of a thing with a state calls this while it holds the row's lock, before it writes.
   * @throws ControlRefused (conflict) if the caller's `If-Match` names another state.
   */
  expect(state: State): void;
  /** Runs another mutation for the same caller, in a transaction of its own; only `follow` may. */
  also<F extends Fields, Out, S extends Reach>(
    operation: Mutation<F, Out, S>,
    input: Readonly<Record<string, unknown>>,
  ): Promise<Out>;
}

/** The context of a read. */
export interface ReadContext<R extends Reach = Reach> extends Context<R> {
  readonly store: ReadStore;
}

/** What audit rows and entity tags are built from: the settings of a thing, as JSON, without secrets. */
export type State = Readonly<Record<string, unknown>>;

/** How a mutation ended. */
export interface Done<Out> {
  readonly result: Out;
  /** The id of what was changed. */
  readonly subject: string;
  /** Its workspace; null: it is the gateway's own. If absent, the workspace of the scope, if that is one. */
  readonly workspaceId?: string | null;
  /** Before (null: new) and after (null: gone); the audit row keeps the differences. */
  readonly before: State | null;
  readonly after: State | null;
  /** Other facts for the audit row: a reason, an overlap. */
  readonly detail?: State;
  /** What the snapshots of all processes must read again. */
  readonly changes?: readonly Change[];
}

/** Address in `/api/v1`; `{workspace}` is the slug, other names are fields of the input. */
export interface HttpBinding {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** "/workspaces/{workspace}/keys/{id}". */
  readonly path: string;
  /** The field that is the whole body; if absent, the body is an object of the fields. */
  readonly body?: string;
}

/** How the command line serves it, if that does not follow from the name. */
export interface LineBinding {
  /** The command, if it is not noun and verb: "usage". */
  readonly command?: string;
  /** Arguments without a flag, in order: names of fields, or "workspace". */
  readonly arguments?: readonly string[];
  /** Whether `--workspace SLUG` is accepted although `reach` does not require it. */
  readonly workspace?: 'optional';
  /** Columns of a list as text; if absent, all of them. */
  readonly columns?: readonly string[];
  /** Text for null, by member of the answer, if "none" would be wrong. */
  readonly unset?: Readonly<Record<string, string>>;
}

interface Declared<F extends Fields, Out, R extends Reach> {
  /** Noun and verb: "key.create". */
  readonly name: `${string}.${string}`;
  /** What it does, in one sentence; shown in the API's document and in `--help`. */
  readonly summary: string;
  readonly reach: R;
  /** null: any caller with a valid credential. */
  readonly permission: Permission | null;
  readonly fields: F;
  /** Whether its address also takes an API key; `run` decides what that may do. */
  readonly apiKeys?: boolean;
  /** The answer as JSON. */
  readonly output: z.ZodType<Out>;
  /** None: it is not part of the management API. */
  readonly http: readonly HttpBinding[];
  /** null: it is no command. */
  readonly line: LineBinding | null;
  /** The answer as text on the command line; if absent, one field per line. */
  text?(output: NoInfer<Out>): string;
  /** If the workspace need not be named: the thing's own time zone, in which dates of the input are read. */
  zone?(store: Store, input: unknown): Promise<string | null>;
  /** Why the answer itself is bad news (the command line exits with 1); null: it is not. */
  failed?(output: NoInfer<Out>): string | null;
}

export interface Read<F extends Fields = Fields, Out = unknown, R extends Reach = Reach>
  extends Declared<F, Out, R> {
  readonly kind: 'read';
  /** The part of the answer that can be changed, for its entity tag; if absent, the answer has no tag. */
  state?(output: NoInfer<Out>): State;
  run(context: ReadContext<R>, input: ValuesOf<F>): Promise<Out>;
}

export interface Mutation<F extends Fields = Fields, Out = unknown, R extends Reach = Reach>
  extends Declared<F, Out, R> {
  readonly kind: 'create' | 'change';
  /**
   * Changes permissions in a workspace: no other mutation of the workspace runs at the same time, so
   * that no one acts under a role that they have just lost.
   */
  readonly exclusive?: boolean;
  /** Special needs of its transaction. */
  readonly transaction?: Transaction;
  run(context: Context<R>, input: ValuesOf<F>): Promise<Done<Out>>;
  /**
   * What follows the commit, if it takes long or involves another service: it must not hold a transaction open, nor see
   * what is rolled back. It also runs for the stored answer of a repeated request, so it must be repeatable.
   * @throws ControlRefused; what was committed stays.
   */
  follow?(context: Context<R>, result: Out, input: ValuesOf<F>): Promise<Out>;
}

export interface Transaction {
  /** How long it may wait to begin (at least as long as the database's setting), and how long it may run; ms. */
  readonly waitMs?: number;
  readonly limitMs: number;
  /** A table that no other transaction changes meanwhile; reads of it do not wait. */
  readonly table?: 'provider';
}

export type Operation = Read | Mutation;

/** What `read`, `create` and `change` take: without fields, addresses or command, an operation has none. */
type Declaration<O extends { fields: unknown; http: unknown; line: unknown; kind: unknown }> = Omit<
  O,
  'kind' | 'fields' | 'http' | 'line'
> &
  Partial<Pick<O, 'fields' | 'http' | 'line'>>;

/** Declares a read. */
export function read<Out, R extends Reach, F extends Fields = Record<never, never>>(
  declared: Declaration<Read<F, Out, R>>,
): Read<F, Out, R> {
  // Without fields, `F` is its default.
  return { http: [], line: null, ...declared, fields: declared.fields ?? ({} as F), kind: 'read' };
}

/** Declares a mutation that creates something; on `/api/v1` it returns 201. */
export function create<Out, R extends Reach, F extends Fields = Record<never, never>>(
  declared: Declaration<Mutation<F, Out, R>>,
): Mutation<F, Out, R> {
  return { ...change(declared), kind: 'create' };
}

/** Declares a mutation of something that exists. */
export function change<Out, R extends Reach, F extends Fields = Record<never, never>>(
  declared: Declaration<Mutation<F, Out, R>>,
): Mutation<F, Out, R> {
  return { http: [], line: null, ...declared, fields: declared.fields ?? ({} as F), kind: 'change' };
}
