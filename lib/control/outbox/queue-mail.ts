import type { SqlRunner } from '#lib/platform/data/change';
import { newRowId } from '#lib/platform/data/row-id';

/** What a mail is about; `lib/control/mail/compose.ts` makes its text when it is sent. */
export type MailKind = 'verify' | 'reset' | 'auto-top-up-stopped' | 'invitation' | 'low-balance' | 'alert';

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
