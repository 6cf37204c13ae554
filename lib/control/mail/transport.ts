import type { Letter } from '#lib/control/mail/letter';

/** Where letters go. */
export interface Transport {
  /**
   * @param id of the mail in the outbox; the same on every try, so that a second copy can be recognized.
   * @throws Error if the server did not accept it.
   */
  send(letter: Letter, id: string): Promise<void>;
  close(): Promise<void>;
}

/** How long a mail server may take for each of its steps, ms. */
const stepMs = 10_000;

/** @param from "Name <address>" or an address. */
export function smtpTransport(url: string, from: string): Transport {
  // Loaded with the first letter, because most processes send none.
  const open = async () =>
    (await import('nodemailer')).createTransport({
      url,
      connectionTimeout: stepMs,
      greetingTimeout: stepMs,
      socketTimeout: 2 * stepMs,
      dnsTimeout: stepMs,
      // A letter contains only what is written here: it reads no files and fetches no addresses.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  let mailer: ReturnType<typeof open> | null = null;
  const domain = /@([^\s>]+)/.exec(from)?.[1] ?? 'localhost';
  return {
    send: async ({ to, subject, text, html }, id) => {
      mailer ??= open();
      await (await mailer).sendMail({
        from,
        // As an object it is one recipient, even if it contains commas.
        to: { name: '', address: to },
        subject,
        text,
        html,
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
    },
    close: async () => (await mailer)?.close(),
  };
}

/**
 * Without SMTP_URL letters are not sent: the operator finds their links in the log and passes them on
 * (contract: control-plane/mail).
 */
export function printedTransport(print: (fields: object, message: string) => void): Transport {
  return {
    send: async ({ to, subject, link }) => {
      print(
        { to, subject, link },
        'SMTP_URL is not set, so this email was not sent: pass its link on to the recipient',
      );
    },
    close: async () => undefined,
  };
}
