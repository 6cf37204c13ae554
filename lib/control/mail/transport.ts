import type { Letter } from '#lib/control/mail/letter';

/** Where letters go. */
export interface Transport {
  /**
   * @param id of the mail in the outbox; the same on every try, so that a reader can tell a second copy.
   * @throws Error when it was not taken.
   */
  send(letter: Letter, id: string): Promise<void>;
  close(): Promise<void>;
}

/** How long a mail server may take for each of its steps, ms. */
const stepMs = 10_000;

/** @param from "Name <address>" or an address. */
export function smtpTransport(url: string, from: string): Transport {
  // Loaded with the first letter: most processes send none.
  const open = async () =>
    (await import('nodemailer')).createTransport({
      url,
      connectionTimeout: stepMs,
      greetingTimeout: stepMs,
      socketTimeout: 2 * stepMs,
      dnsTimeout: stepMs,
      // A letter holds nothing but what is written here: no files of this machine, no addresses that it would fetch.
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
        // As an object it is one recipient, whatever commas stand in it.
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
 * Without SMTP_URL letters are not sent: the operator reads their links in the log and hands them on
 * (contract: control-plane/mail).
 */
export function printedTransport(print: (fields: object, message: string) => void): Transport {
  return {
    send: async ({ to, subject, link }) => {
      print({ to, subject, link }, 'SMTP_URL is not set: this mail is not sent; hand its link on');
    },
    close: async () => undefined,
  };
}
