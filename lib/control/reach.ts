import { type Actor, isOperator } from '#lib/control/actor';
import type { Reach } from '#lib/control/declare';
import { isUuid } from '#lib/control/field/kinds';
import { badInput, ControlRefused, notFound, quoted } from '#lib/control/refusal';
import { type ActingRole, may, type Permission, roleOf, rolesThatMay } from '#lib/control/role';
import { EveryWorkspace, type Scope, WorkspaceScope } from '#lib/control/scope';
import type { Store } from '#lib/control/store';

/** Where an actor may work, as which role. */
export interface Reached {
  readonly scope: Scope | null;
  readonly role: ActingRole | null;
  readonly suspended: boolean;
}

interface Asked {
  readonly reach: Reach;
  /** Slug or id of the workspace that was named. */
  readonly workspace: string | undefined;
}

/**
 * The scope of one operation.
 * @throws ControlRefused not_found for a workspace that is not there or that the actor does not belong to;
 * permission_denied for what only operators do.
 */
export async function reachOf(store: Store, actor: Actor, asked: Asked): Promise<Reached> {
  if (asked.reach === 'self') return { scope: null, role: null, suspended: false };
  if (asked.reach === 'gateway') {
    if (isOperator(actor)) return everything;
    throw new ControlRefused('permission_denied', 'only an operator of this gateway may do this');
  }
  if (asked.workspace !== undefined) return inWorkspace(store, actor, asked.workspace);
  if (asked.reach === 'subject') {
    if (isOperator(actor)) return everything;
    if (actor.kind === 'management-key' && actor.workspaceId !== null)
      return inWorkspace(store, actor, actor.workspaceId);
  }
  throw badInput('workspace', 'name the workspace by its slug');
}

const everything: Reached = { scope: new EveryWorkspace(), role: 'operator', suspended: false };

async function inWorkspace(store: Store, actor: Actor, named: string): Promise<Reached> {
  const found = await findNamed(store, named);
  const role = found === null ? null : await roleIn(store, actor, found.id);
  if (found === null || role === null) {
    throw notFound(`there is no workspace ${quoted(named)}; check its slug`, 'workspace');
  }
  return { scope: new WorkspaceScope(found), role, suspended: found.suspendedAt !== null };
}

/** Only what can be a slug or an id is asked for: PostgreSQL raises for other texts. */
function findNamed(store: Store, named: string) {
  if (!/^[a-z0-9-]{1,100}$/i.test(named)) return null;
  const where = isUuid(named) ? { id: named } : { slug: named };
  return store.prisma.workspace.findUnique({
    where,
    select: { id: true, slug: true, timeZone: true, suspendedAt: true },
  });
}

async function roleIn(store: Store, actor: Actor, workspaceId: string): Promise<ActingRole | null> {
  if (actor.kind === 'management-key' && actor.workspaceId !== null)
    return actor.workspaceId === workspaceId ? actor.role : null;
  if (actor.kind === 'user') {
    const where = { workspaceId_userId: { workspaceId, userId: actor.userId } };
    const member = await store.prisma.member.findUnique({ where, select: { role: true } });
    if (member !== null) return roleOf(member.role);
  }
  return isOperator(actor) ? 'operator' : null;
}

/** @throws ControlRefused permission_denied, naming the roles that may. */
export function checkPermission(
  { role, suspended }: Reached,
  operation: { readonly permission: Permission | null; readonly kind: 'read' | 'create' | 'change' },
): void {
  const { permission, kind } = operation;
  if (permission === null || role === null) return;
  if (!may(role, permission)) {
    throw new ControlRefused(
      'permission_denied',
      `your role is ${role}; this needs the role ${rolesThatMay(permission)}`,
    );
  }
  if (suspended && kind !== 'read' && role !== 'operator') {
    throw new ControlRefused(
      'permission_denied',
      'this workspace is suspended, so nothing in it can be changed; ask the operator of this gateway',
    );
  }
}
