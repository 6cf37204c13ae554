import type { Payments } from '#lib/control/billing/payments/client';
import type { Actor } from '#lib/control/operations/actor';
import { audit } from '#lib/control/operations/audit';
import type { Context, Mutation, Operation, Reach, Read, State } from '#lib/control/operations/declare';
import { type Fields, parseFields, refusePast, type ValuesOf } from '#lib/control/operations/field/field';
import { claim, keep, type Once } from '#lib/control/operations/once';
import {
  checkFields,
  checkPermission,
  checkVerified,
  type Reached,
  reachOf,
} from '#lib/control/operations/reach';
import { badInput, conflict } from '#lib/control/operations/refusal';
import { WorkspaceScope } from '#lib/control/operations/scope';
import type { HeldSecret } from '#lib/control/operations/secret/prints';
import { changedSince, etagOf, matches } from '#lib/control/operations/state';
import { lockTable, type Store, storeOf, transact } from '#lib/control/operations/store';
import { type AccountRules, noSignUp } from '#lib/control/operations/user/account-rules';
import { noOwnKeysAllowed, type OwnKeyRules } from '#lib/core/facts/own-key-rules';
import type { Catalogue } from '#lib/core/facts/snapshot';
import type { Access } from '#lib/gateway/clouds/access';
import type { ObjectReader } from '#lib/gateway/content/objects/object-store';
import type { LimitUse } from '#lib/gateway/limits/pure/limit-book';
import { type LiveHealth, noHealth } from '#lib/gateway/routing/live-health';
import type { Pools } from '#lib/gateway/upstream/pools';
import { publish } from '#lib/platform/data/change';
import type { Db } from '#lib/platform/data/db';
import type { SealingKey } from '#lib/platform/sealing';

/** What a process provides to the operations that run in it. */
export interface ControlHost {
  readonly db: Db;
  /** The secret used to hash API keys and management keys. */
  readonly keyPepper: string;
  /**
   * The catalogue in force: from memory if the process serves calls, otherwise from the database.
   * @param within the transaction that asks, if there is one: the database may have only one session.
   */
  catalogue(within?: Store): Catalogue | Promise<Catalogue>;
  /** Opens and seals provider credentials, if there is an ENCRYPTION_KEY. */
  readonly sealingKey?: SealingKey | null;
  /** Reads kept content from an object store. */
  readonly objects?: ObjectReader;
  /** The secrets of the process, if it may make them those of the database. */
  readonly heldSecrets?: readonly HeldSecret[];
  /** What the gateway processes know about their offers; if absent, every offer counts as healthy. */
  health?(): Promise<LiveHealth>;
  /** What counts against the limits of a key, one entry for each gateway process of this machine. */
  limitUse?(keyId: string): Promise<readonly LimitUse[]>;
  /** Payments by card; absent or null: not set up. */
  readonly payments?: Payments | null;
  /** How providers are reached; absent: directly. */
  readonly pools?: Pools;
  /** Tokens and keys of clouds. */
  readonly access?: Access;
  /** Directory of its journal, if it has one. */
  readonly journalDir?: string;
  /** What users may do by themselves; if absent, nobody can sign up. */
  readonly accounts?: AccountRules;
  /** What workspaces may store; if absent, no own keys. */
  readonly ownKeys?: OwnKeyRules;
  /**
   * Makes the gateway processes of this machine read what was just committed
   * (contract: authentication/change-in-force); they read it within a second anyway.
   */
  changed(): Promise<void> | void;
}

/** A request for an operation. */
export interface OperationRequest {
  readonly actor: Actor;
  /** Slug or id of the workspace; omitted if the operation needs none. */
  readonly workspace?: string | undefined;
  /** The declared fields, as JSON. */
  readonly input: unknown;
  /** `If-Match`: the change is refused if the thing has another state. */
  readonly ifMatch?: string | undefined;
  readonly once?: Once | undefined;
}

export interface Ran<Out> {
  readonly output: Out;
  /** The entity tag of what was read or changed; null if it has none. */
  readonly etag: string | null;
}

/**
 * Runs an operation for any caller and adapter: scope, permission, input and a read; or all of
 * these in the transaction of a mutation, with its audit row, its stored answer and, last, the change feed.
 * @throws ControlRefused; then nothing was changed.
 */
async function run<F extends Fields, Out, R extends Reach>(
  host: ControlHost,
  operation: Read<F, Out, R> | Mutation<F, Out, R>,
  request: OperationRequest,
): Promise<Ran<Out>> {
  if (operation.kind === 'read') {
    const store = storeOf(host.db);
    const { reached, input } = await admit(store, operation, request);
    const output = await operation.run({ ...contextOf<R>(host, store, request, reached), store }, input);
    return { output, etag: operation.state ? etagOf(operation.state(output)) : null };
  }
  const work = (inside: Store) => mutate(host, inside, operation, request);
  const ran = await transact(host.db, work, operation.transaction);
  // It is committed: the answer, perhaps a key that is shown once, is returned even if the announcement fails.
  await Promise.resolve(host.changed()).catch(() => undefined);
  if (!operation.follow) return ran;
  const store = storeOf(host.db);
  const { reached, input } = await admit(store, operation, request);
  const context = contextOf<R>(host, store, request, reached);
  return { ...ran, output: await operation.follow(context, ran.output, input) };
}

/**
 * Scope, permission and input, in this order, so that strangers learn nothing about fields. A mutation checks inside
 * its transaction while it holds a lock, so that a role that is lost at that moment does not count.
 */
async function admit<F extends Fields>(
  store: Store,
  operation: Pick<Operation, 'reach' | 'permission' | 'kind' | 'zone'> & { fields: F },
  { actor, workspace, input: given }: OperationRequest,
  lock?: 'shared' | 'exclusive',
): Promise<{ reached: Reached; input: ValuesOf<F> }> {
  const { reach, fields } = operation;
  const reached = await reachOf(store, actor, { reach, workspace, ...(lock ? { lock } : {}) });
  checkPermission(reached, operation);
  checkVerified(actor, operation);
  const zone =
    reached.scope instanceof WorkspaceScope ? reached.scope.timeZone : await operation.zone?.(store, given);
  const input = parseFields(fields, given, zone ?? 'UTC');
  checkFields(reached, fields, input);
  return { reached, input };
}

/** Only the answer, for pages, commands and tests. */
export async function ask<F extends Fields, Out, R extends Reach>(
  host: ControlHost,
  operation: Read<F, Out, R> | Mutation<F, Out, R>,
  request: OperationRequest,
): Promise<Out> {
  return (await run(host, operation, request)).output;
}

async function mutate<F extends Fields, Out, R extends Reach>(
  host: ControlHost,
  store: Store,
  operation: Mutation<F, Out, R>,
  request: OperationRequest,
): Promise<Ran<Out>> {
  const { reached, input } = await admit(
    store,
    operation,
    request,
    operation.exclusive ? 'exclusive' : 'shared',
  );
  const { once } = request;
  const asked = { operation: operation.name, workspace: request.workspace, input: request.input };
  const before = once ? await claim(store, once, asked) : null;
  // Written by `keep` below.
  if (before !== null) return before as Ran<Out>;
  const context = contextOf<R>(host, store, request, { ...reached, within: store });
  // Not earlier: an expiry may have passed by the time a request is repeated.
  refusePast(operation.fields, input, context.nowMs);
  if (operation.transaction?.table) await lockTable(store, operation.transaction.table);
  const done = await operation.run(context, input);
  if (request.ifMatch !== undefined && !context.compared()) {
    throw badInput(null, 'If-Match does not apply here; send the request without it');
  }
  const workspaceId = reached.scope instanceof WorkspaceScope ? reached.scope.workspaceId : null;
  await audit(store, request.actor, operation.name, { workspaceId, ...done });
  const ran = { output: done.result, etag: done.after === null ? null : etagOf(done.after) };
  if (once) await keep(store, once, ran);
  await publish({ query: (text, values) => store.execute(text, values) }, done.changes ?? []);
  return ran;
}

function contextOf<R extends Reach>(
  host: ControlHost,
  store: Store,
  { actor, ifMatch }: OperationRequest,
  { scope, role, within }: Reached & { readonly within?: Store },
): Context<R> & { compared(): boolean } {
  let compared = false;
  return {
    store,
    actor,
    // Made by `reachOf` for this reach.
    scope: scope as Context<R>['scope'],
    role,
    keyPepper: host.keyPepper,
    catalogue: () => host.catalogue(within),
    sealingKey: host.sealingKey ?? null,
    objects: host.objects ?? null,
    heldSecrets: host.heldSecrets ?? [],
    pool: host.db.pool,
    payments: host.payments ?? null,
    pools: host.pools ?? null,
    access: host.access ?? null,
    journalDir: host.journalDir ?? null,
    limitUse: async (keyId) => (await host.limitUse?.(keyId)) ?? [],
    health: async () => (await host.health?.()) ?? noHealth,
    nowMs: Date.now(),
    accounts: host.accounts ?? noSignUp,
    also: (operation, input) => ask(host, operation, { actor, input }),
    ownKeys: host.ownKeys ?? noOwnKeysAllowed,
    expect: (state: State) => {
      compared = true;
      if (ifMatch !== undefined && !matches(ifMatch, state)) {
        throw conflict(changedSince);
      }
    },
    compared: () => compared,
  };
}

/** Any operation, for adapters that do not know its type. */
export function runAny(
  host: ControlHost,
  operation: Operation,
  request: OperationRequest,
): Promise<Ran<unknown>> {
  return run(host, operation, request);
}
