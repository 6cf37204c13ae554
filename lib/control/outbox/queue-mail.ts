import type { SqlRunner } from '#lib/platform/data/change';
import { newRowId } from '#lib/platform/data/row-id';

/** What a mail is about; `lib/control/mail/compose.ts` makes its text when it is sent. */
export type MailKind = 'verify' | 'reset' | 'auto-top-up-stopped' | 'invitation' | 'low-balance' | 'alert';

/** A mail to be sent. */
export interface Queued {
  readonly kind: MailKind;
  /** An address that may have no account: whether it is written to is found out when it is sent. */
  readonly recipient: string;
  /** What its text needs, as JSON; nothing secret. */
  readonly facts?: Readonly<Record<string, string | number | boolean | null>>;
  /** It is not worth sending after that, seconds from now. */
  readonly lifeSeconds: number;
}

/**
 * Puts a mail into the outbox, in the transaction of what it tells of: both are there or neither is, and a process
 * that dies before it was sent leaves it to the next one (contract: control-plane/mail).
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
