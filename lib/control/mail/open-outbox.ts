import { randomInt } from 'node:crypto';
import { composeMail } from '#lib/control/mail/compose';
import { type Outbox, openOutbox } from '#lib/control/mail/drain';
import { printedTransport, smtpTransport } from '#lib/control/mail/transport';
import type { Db } from '#lib/platform/data/db';
import type { Env } from '#lib/platform/env/env';

/**
 * Sending begins some time after the request for the mail was answered: how busy the process is must not reveal whether
 * there was an account to write to.
 */
const restMs = () => 300 + randomInt(900);

interface OutboxOptions {
  /** Of the console, without a slash at the end; links point there. */
  readonly publicUrl: string;
  readonly report: (error: unknown) => void;
  /** Prints links of letters that cannot be sent. */
  readonly print?: (fields: object, message: string) => void;
}

/** The outbox of this process. */
export function openOutboxOf(
  env: Pick<Env, 'smtpUrl' | 'mailFrom' | 'keyPepper'>,
  db: Db,
  { publicUrl, report, print = (fields, message) => console.warn(message, fields) }: OutboxOptions,
): Outbox {
  const from = env.mailFrom ?? `Model Gateway <no-reply@${new URL(publicUrl).hostname}>`;
  const transport = env.smtpUrl === null ? printedTransport(print) : smtpTransport(env.smtpUrl, from);
  const compose = { db, keyPepper: env.keyPepper, publicUrl };
  return openOutbox({
    db,
    transport,
    report,
    restMs,
    compose: (mail) => composeMail(compose, mail),
  });
}
