import { randomBytes } from 'node:crypto';
import { badInput, type ControlRefused } from '#lib/control/operations/refusal';
import type { Store } from '#lib/control/operations/store';
import { type Role, roleOf } from '#lib/core/role';
import type { SqlRunner } from '#lib/platform/data/change';
import { hashKey } from '#lib/platform/secrets';

const form = /^[\w-]{43}$/;

/** `mail`: it comes to the invited address, which proves the address. `copy`: a member passes it on. */
type LinkKind = 'mail' | 'copy';

/**
 * Makes a link; only its hash is stored.
 * @returns its token: 256 random bits, only for the mail, or for who copies it.
 */
export async function mintInvitationLink(
  tx: SqlRunner,
  keyPepper: string,
  { invitationId, kind }: { readonly invitationId: string; readonly kind: LinkKind },
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await tx.query('INSERT INTO invitation_link (hash, invitation_id) VALUES ($1, $2::uuid)', [
    hashOf(token, kind, keyPepper),
    invitationId,
  ]);
  return token;
}

/**
 * The kind is part of what is hashed, so that a process of the version before does not find a copied link, which it
 * would take for one that came by mail.
 */
function hashOf(token: string, kind: LinkKind, keyPepper: string): Uint8Array {
  return hashKey(kind === 'mail' ? token : `${kind} ${token}`, keyPepper);
}

/** An invitation found by its link. */
export interface Linked {
  readonly id: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly workspace: string;
  readonly email: string;
  /** Whether the link proves that its user reads mail at the address. */
  readonly provesAddress: boolean;
  readonly role: Role;
  /** Name or address of the member who invites; null: the operator. */
  readonly inviter: string | null;
}

interface Row {
  copied: boolean;
  id: string;
  workspace_id: string;
  slug: string;
  workspace: string;
  email: string;
  role: string;
  inviter: string | null;
  accepted: boolean;
  cancelled: boolean;
  expired: boolean;
  suspended: boolean;
  deleted: boolean;
}

const select = `
  SELECT l.hash = $2 AS copied, i.id::text AS id, i.workspace_id::text AS workspace_id, w.slug, w.name AS workspace, i.email, i.role,
    coalesce(u.name, u.email) AS inviter, i.accepted_at IS NOT NULL AS accepted,
    i.cancelled_at IS NOT NULL AS cancelled, i.expires_at <= now() AS expired,
    w.suspended_at IS NOT NULL AS suspended, w.deleted_at IS NOT NULL AS deleted
  FROM invitation_link l JOIN invitation i ON i.id = l.invitation_id JOIN workspace w ON w.id = i.workspace_id
    LEFT JOIN "user" u ON u.id = i.invited_by
  WHERE l.hash IN ($1, $2)`;

/** @throws ControlRefused (invalid_body) with the reason, if the link cannot be used. */
export async function findByLink(
  { query }: Pick<Store, 'query'>,
  keyPepper: string,
  token: string,
): Promise<Linked> {
  const hashes = (['mail', 'copy'] as const).map((kind) => hashOf(token, kind, keyPepper));
  const [row] = form.test(token) ? await query<Row>(select, hashes) : [];
  const role = row ? roleOf(row.role) : null;
  if (row === undefined || role === null) throw unusable('unknown');
  if (row.accepted) throw unusable('accepted');
  if (row.cancelled || row.deleted) throw unusable('cancelled');
  if (row.expired) throw unusable('expired');
  if (row.suspended) throw unusable('suspended');
  const { id, slug, workspace, email, inviter } = row;
  const provesAddress = !row.copied;
  return { id, workspaceId: row.workspace_id, slug, workspace, email, provesAddress, role, inviter };
}

/**
 * Marks an invitation as accepted, in the transaction of what it allows. The workspace is locked before the invitation,
 * as for cancellations and removals of members: of two at the same time, the second sees what the first did.
 * @throws ControlRefused (invalid_body), as `findByLink`.
 */
export async function claimInvitation(
  { query, execute }: Store,
  keyPepper: string,
  token: string,
): Promise<Linked> {
  const found = await findByLink({ query }, keyPepper, token);
  await query('SELECT 1 AS one FROM workspace WHERE id = $1::uuid FOR UPDATE', [found.workspaceId]);
  const standing = await findByLink({ query }, keyPepper, token);
  await execute('UPDATE invitation SET accepted_at = now() WHERE id = $1::uuid', [standing.id]);
  return standing;
}

const reasons = {
  unknown: 'this link is incomplete, not one of ours, or replaced by a later one; use the newest link',
  accepted: 'this invitation was already accepted; sign in to open the workspace',
  cancelled: 'this invitation was canceled; ask the person who invited you for a new one',
  expired: 'this invitation has expired; ask the person who invited you to send it again',
  suspended: 'this workspace is suspended and cannot be joined at the moment',
} as const;

function unusable(why: keyof typeof reasons): ControlRefused {
  return badInput('token', reasons[why]);
}
