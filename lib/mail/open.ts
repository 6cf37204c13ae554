import { randomInt } from 'node:crypto';
import type { Db } from '#lib/data/db';
import type { Env } from '#lib/env';
import { composeMail } from '#lib/mail/compose';
import { type Outbox, openOutbox } from '#lib/mail/drain';
import { printedTransport, smtpTransport } from '#lib/mail/transport';

/**
 * Sending begins when whoever asked for the mail has the answer, some time later: how busy the process is then must not
 * tell whether there was somebody to write to.
 */
const restMs = () => 300 + randomInt(900);

/**
 * The outbox of this process.
 * @param publicUrl of the console, without a slash at the end; links lead there.
 * @param print where links go that are not sent.
 */
export function openOutboxOf(
  env: Pick<Env, 'smtpUrl' | 'mailFrom' | 'keyPepper'>,
  db: Db,
  publicUrl: string,
  report: (error: unknown) => void,
  print: (fields: object, message: string) => void = (fields, message) => console.warn(message, fields),
): Outbox {
  const from = env.mailFrom ?? `Model Gateway <no-reply@${new URL(publicUrl).hostname}>`;
  const transport = env.smtpUrl === null ? printedTransport(print) : smtpTransport(env.smtpUrl, from);
  const compose = { db, keyPepper: env.keyPepper, publicUrl };
  return openOutbox({
    ...{ db, transport, report, restMs },
    compose: (mail) => composeMail(compose, mail),
  });
}
