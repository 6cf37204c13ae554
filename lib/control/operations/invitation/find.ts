import { isUuid } from '#lib/control/operations/field/kinds';
import { inOrderOf, type Order, pageOfIds, timeOrder } from '#lib/control/operations/field/paging';
import type { ShownInvitation } from '#lib/control/operations/invitation/settings';
import { notFound, quoted } from '#lib/control/operations/refusal';
import { type WorkspaceScope, within } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { roleOf } from '#lib/core/role';
import type { Db } from '#lib/platform/data/db';

interface Row {
  id: string;
  email: string;
  role: string;
  inviter: string | null;
  created_at: Date;
  sent_at: Date;
  expires_at: Date;
  accepted_at: Date | null;
  cancelled_at: Date | null;
  mails: number;
}

const invitationColumns = `i.id::text AS id, i.email, i.role, u.email AS inviter, i.created_at, i.sent_at,
  i.expires_at, i.accepted_at, i.cancelled_at, i.mails`;

/** One invitation of the scope, locked until the transaction ends. @throws ControlRefused not_found. */
export async function lockInvitation(
  store: Store,
  { workspaceId }: WorkspaceScope,
  id: string,
): Promise<Row> {
  const [row] = isUuid(id)
    ? await store.query<Row>(
        `SELECT ${invitationColumns} FROM invitation i LEFT JOIN "user" u ON u.id = i.invited_by
         WHERE i.id = $1::uuid AND i.workspace_id = $2::uuid FOR UPDATE OF i`,
        [id, workspaceId],
      )
    : [];
  if (row === undefined) throw notFound(`there is no invitation ${quoted(id)}; check its id`, 'id');
  return row;
}

/** By what a list of invitations can be sorted. */
export const invitationOrders = {
  email: { sql: 'i.email', type: 'text' },
  role: { sql: 'i.role', type: 'text' },
  sent: timeOrder('i.sent_at'),
  ends: timeOrder('i.expires_at'),
  created: timeOrder('i.created_at'),
} as const satisfies Record<string, Order>;

interface InvitationPage {
  readonly all: boolean;
  /** Part of the address. */
  readonly search: string | null | undefined;
  readonly sort: string;
  readonly after: string | undefined;
  readonly limit: number;
}

/** A page of the invitations of a workspace. */
export async function findInvitations(
  store: Store,
  scope: WorkspaceScope,
  { all, search, ...page }: InvitationPage,
): Promise<{ rows: Row[]; next: string | null }> {
  const where = (values: unknown[]) => [
    within(scope, 'i.workspace_id', values),
    ...(all ? [] : ['i.accepted_at IS NULL AND i.cancelled_at IS NULL']),
    ...(typeof search !== 'string' ? [] : [`strpos(i.email, lower($${values.push(search)})) > 0`]),
  ];
  const list = { from: 'invitation i', id: 'i.id', orders: invitationOrders, where };
  const { ids, next } = await pageOfIds(store, list, page);
  const rows = await store.query<Row>(
    `SELECT ${invitationColumns} FROM invitation i LEFT JOIN "user" u ON u.id = i.invited_by
     WHERE i.workspace_id = $1::uuid AND i.id = ANY($2::uuid[])`,
    [scope.workspaceId, ids],
  );
  return { rows: inOrderOf(ids, rows), next };
}

/** What the mail of an invitation says; null if there is nothing left to accept. */
export async function findOpenInvitation(
  { prisma }: Db,
  id: string,
): Promise<{ workspace: string; role: string; inviter: string | null } | null> {
  if (!isUuid(id)) return null;
  const row = await prisma.invitation.findFirst({
    where: { id, acceptedAt: null, cancelledAt: null, workspace: { deletedAt: null } },
    select: { role: true, invitedBy: true, workspace: { select: { name: true } } },
  });
  if (row === null) return null;
  const by = row.invitedBy === null ? null : { id: row.invitedBy };
  const user = by && (await prisma.user.findUnique({ where: by, select: { name: true, email: true } }));
  return { workspace: row.workspace.name, role: row.role, inviter: user?.name ?? user?.email ?? null };
}

/** An unknown stored role counts as the role with the fewest permissions. */
export function showInvitation(row: Row, nowMs: number): ShownInvitation {
  return {
    id: row.id,
    email: row.email,
    role: roleOf(row.role) ?? 'viewer',
    state: stateAt(row, nowMs),
    invitedBy: row.inviter,
    createdAt: row.created_at.toISOString(),
    sentAt: row.sent_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}

/** The state of an invitation. */
export function stateAt(
  row: Pick<Row, 'accepted_at' | 'cancelled_at' | 'expires_at'>,
  nowMs: number,
): ShownInvitation['state'] {
  if (row.accepted_at !== null) return 'accepted';
  if (row.cancelled_at !== null) return 'cancelled';
  return row.expires_at.getTime() <= nowMs ? 'expired' : 'open';
}
