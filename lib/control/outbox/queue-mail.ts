import type { PoolClient } from 'pg';
import type { Role } from '#lib/core/role';
import type { SqlRunner } from '#lib/platform/data/change';
import { newRowId } from '#lib/platform/data/row-id';

/** What a mail is about; `lib/control/mail/compose.ts` makes its text when it is sent. */
export type MailKind =
  | 'verify'
  | 'reset'
  | 'auto-top-up-stopped'
  | 'invitation'
  | 'low-balance'
  | 'alert'
  | 'view';

/** A mail to be sent. */
export interface Queued {
  readonly kind: MailKind;
  /** May have no account; this is checked when the mail is sent. */
  readonly recipient: string;
  /** Data for its text, as JSON; nothing secret. */
  readonly facts?: Readonly<Record<string, string | number | boolean | null>>;
  /** After that it is no longer worth sending, seconds from now. */
  readonly lifeSeconds: number;
}

/**
 * Puts a mail into the outbox, in the transaction that causes it: both happen or neither does, and if the process dies
 * before sending it, the next one does (contract: control-plane/mail).
 * @returns its id.
 */
export async function queueMail(tx: SqlRunner, mail: Queued): Promise<string> {
  const id = newRowId();
  await tx.query(
    `INSERT INTO mail (id, kind, recipient, facts, expires_at)
     VALUES ($1::uuid, $2, $3, $4::jsonb, now() + make_interval(secs => $5::int))`,
    [id, mail.kind, mail.recipient, JSON.stringify(mail.facts ?? {}), mail.lifeSeconds],
  );
  return id;
}

/**
 * Queues a mail for each member of a workspace with one of these roles, as `queueMail` does; its facts also have the
 * workspace's `slug` and `name`.
 */
export async function mailMembers(
  tx: PoolClient,
  workspaceId: string,
  roles: readonly Role[],
  mail: Omit<Queued, 'recipient'>,
): Promise<void> {
  const { rows } = await tx.query<{ email: string; slug: string; name: string }>(
    `SELECT u.email, w.slug, w.name FROM member m JOIN "user" u ON u.id = m.user_id JOIN workspace w ON w.id = m.workspace_id
     WHERE m.workspace_id = $1::uuid AND m.role = ANY ($2::text[]) ORDER BY u.email`,
    [workspaceId, roles],
  );
  for (const { email, slug, name } of rows)
    await queueMail(tx, { ...mail, recipient: email, facts: { slug, name, ...mail.facts } });
}
