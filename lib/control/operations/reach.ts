import { type Actor, isOperator } from '#lib/control/operations/actor';
import type { Reach } from '#lib/control/operations/declare';
import type { Fields } from '#lib/control/operations/field/field';
import { isUuid } from '#lib/control/operations/field/kinds';
import { isVoidNow } from '#lib/control/operations/management-key/authenticate';
import { badInput, ControlRefused, conflict, notFound, quoted } from '#lib/control/operations/refusal';
import { EveryWorkspace, type Scope, WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { type ActingRole, may, type Permission, roleOf, rolesThatMay } from '#lib/core/role';

/** The scope and role of an actor. */
export interface Reached {
  readonly scope: Scope | null;
  readonly role: ActingRole | null;
  readonly suspended: boolean;
}

interface Asked {
  readonly reach: Reach;
  /** Slug or id of the named workspace. */
  readonly workspace: string | undefined;
  /**
   * Only in a mutation: the lock on the workspace's row, held until its transaction ends. Roles are read after it is
   * taken. `shared` locks can be held together and with charges; `exclusive` ones exclude them.
   */
  readonly lock?: 'shared' | 'exclusive';
}

/**
 * The scope of one operation.
 * @throws ControlRefused not_found for a workspace that does not exist or that the actor does not belong to;
 * permission_denied for operations of operators.
 */
export async function reachOf(store: Store, actor: Actor, asked: Asked): Promise<Reached> {
  if (asked.reach === 'self') return { scope: null, role: null, suspended: false };
  if (asked.reach === 'gateway') {
    if (isOperator(actor)) return everywhere(store, actor, asked.lock);
    throw new ControlRefused('permission_denied', 'only operators of this gateway may do this');
  }
  const { lock } = asked;
  if (asked.workspace !== undefined) return inWorkspace(store, actor, asked.workspace, lock);
  if (asked.reach === 'subject') {
    if (isOperator(actor)) return everywhere(store, actor, lock);
    const own = actor.kind === 'management-key' || actor.kind === 'api-key' ? actor.workspaceId : null;
    if (own !== null) return inWorkspace(store, actor, own, lock);
  }
  throw badInput('workspace', 'name the workspace by its slug');
}

async function everywhere(store: Store, actor: Actor, lock: Asked['lock']): Promise<Reached> {
  if (!(await isEnded(store, actor, lock))) return everything;
  throw new ControlRefused('permission_denied', 'this management key is no longer valid');
}

const everything: Reached = { scope: new EveryWorkspace(), role: 'operator', suspended: false };

async function inWorkspace(store: Store, actor: Actor, named: string, lock: Asked['lock']): Promise<Reached> {
  const found = await findNamed(store, named, lock);
  const role = found === null ? null : await roleIn(store, actor, found.id, lock);
  if (found === null || role === null) {
    throw notFound(`there is no workspace ${quoted(named)}; check its slug`, 'workspace');
  }
  // It has no members any more; operators can still read its ledger, but nothing in it can change.
  if (found.deleted && lock !== undefined) throw conflict('this workspace is deleted; create a new one');
  const { id, slug, time_zone: timeZone, retention_days: retentionDays, demo } = found;
  const scope = new WorkspaceScope({ id, slug, timeZone, retentionDays, demo });
  return { scope, role, suspended: found.suspended };
}

interface Named {
  id: string;
  slug: string;
  time_zone: string;
  retention_days: number | null;
  suspended: boolean;
  deleted: boolean;
  demo: boolean;
}

/** Charges update the row, which `FOR KEY SHARE` allows; `FOR UPDATE` waits for all others. */
const locks = { shared: 'FOR KEY SHARE', exclusive: 'FOR UPDATE' } as const;

/**
 * By its id, its slug or a former slug: links with a former slug still work, and
 * answers contain the current one. Only well-formed names are looked up: PostgreSQL raises errors for others.
 */
async function findNamed(store: Store, named: string, lock: Asked['lock']): Promise<Named | null> {
  if (!/^[a-z0-9-]{1,100}$/i.test(named)) return null;
  const byName = 'slug = $1 OR id = (SELECT workspace_id FROM former_slug WHERE slug = $1)';
  const condition = isUuid(named) ? 'id = $1::uuid' : `${byName} ORDER BY slug = $1 DESC LIMIT 1`;
  const [found] = await store.query<Named>(
    `SELECT id::text AS id, slug, time_zone, retention_days, suspended_at IS NOT NULL AS suspended,
       deleted_at IS NOT NULL AS deleted, demo FROM workspace
     WHERE ${condition} ${lock === undefined ? '' : locks[lock]}`,
    [named],
  );
  return found ?? null;
}

async function roleIn(
  store: Store,
  actor: Actor,
  workspaceId: string,
  lock: Asked['lock'],
): Promise<ActingRole | null> {
  if (await isEnded(store, actor, lock)) return null;
  if (actor.kind === 'management-key' && actor.workspaceId !== null) {
    return actor.workspaceId === workspaceId ? actor.role : null;
  }
  if (actor.kind === 'api-key') return actor.workspaceId === workspaceId ? 'api-key' : null;
  if (isOperator(actor)) return 'operator';
  if (actor.kind === 'user') {
    const where = { workspaceId_userId: { workspaceId, userId: actor.userId } };
    const member = await store.prisma.member.findUnique({ where, select: { role: true } });
    if (member !== null) return roleOf(member.role);
  }
  return null;
}

/** The adapter has just authenticated the management key, so only a mutation has to check again, holding a lock. */
async function isEnded(store: Store, actor: Actor, lock: Asked['lock']): Promise<boolean> {
  return lock !== undefined && actor.kind === 'management-key' && (await isVoidNow(store, actor));
}

/** Some fields need more permissions than their operation. @throws ControlRefused permission_denied. */
export function checkFields({ role }: Reached, fields: Fields, input: object): void {
  for (const [name, { permission }] of Object.entries(fields)) {
    const given = Object.hasOwn(input, name);
    if (!given || permission === undefined || role === null || may(role, permission)) continue;
    const text = `your role is ${role}; setting this requires the role ${rolesThatMay(permission)}`;
    throw new ControlRefused('permission_denied', text, name);
  }
}

/**
 * Users who have not verified their address can change nothing but their own account
 * (contract: control-plane/verification). @throws ControlRefused permission_denied.
 */
export function checkVerified(
  actor: Actor,
  { reach, kind }: { readonly reach: Reach; readonly kind: 'read' | 'create' | 'change' },
): void {
  if (actor.kind !== 'user' || actor.unverified !== true || reach === 'self' || kind === 'read') return;
  throw new ControlRefused(
    'permission_denied',
    'verify your email address first: open the link in the mail, or request a new one',
  );
}

/** @throws ControlRefused permission_denied, naming the roles that have the permission. */
export function checkPermission(
  { role, suspended }: Reached,
  operation: { readonly permission: Permission | null; readonly kind: 'read' | 'create' | 'change' },
): void {
  const { permission, kind } = operation;
  if (permission === null || role === null) return;
  if (!may(role, permission)) {
    throw new ControlRefused(
      'permission_denied',
      `your role is ${role}; this requires the role ${rolesThatMay(permission)}`,
    );
  }
  if (suspended && kind !== 'read' && role !== 'operator') {
    throw new ControlRefused(
      'permission_denied',
      'this workspace is suspended and cannot be changed; contact the operator of this gateway',
    );
  }
}
