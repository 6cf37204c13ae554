import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** A mail that the server accepted. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body as received, with CRLF. */
  readonly raw: string;
}

/** A mail server that keeps the mail that it gets. */
export interface MailServer {
  readonly url: string;
  readonly mails: TakenMail[];
  /** Its answer to DATA from now on; null: it accepts the mail. */
  refuse(reply: string | null): void;
  close(): Promise<void>;
}

/** Knows enough SMTP for a client that sends one mail per session. */
export async function startMailServer(): Promise<MailServer> {
  const mails: TakenMail[] = [];
  let refusal: string | null = null;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    serve(
      socket,
      (mail) => mails.push(mail),
      () => refusal,
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `smtp://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    mails,
    refuse: (reply) => {
      refusal = reply;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serve(socket: Socket, take: (mail: TakenMail) => void, refusal: () => string | null): void {
  let buffer = '';
  let inData = false;
  let from = '';
  let to: string[] = [];
  const say = (line: string) => socket.write(`${line}\r\n`);
  const command = (line: string) => {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'MAIL') from = line;
    if (verb === 'RCPT') to.push(/<([^>]*)>/.exec(line)?.[1] ?? '');
    if (verb === 'DATA') {
      const refused = refusal();
      inData = refused === null;
      return say(refused ?? '354 go on');
    }
    if (verb === 'QUIT') return socket.end('221 bye\r\n');
    return say(verb === 'EHLO' ? '250-test\r\n250 8BITMIME' : '250 ok');
  };
  say('220 test');
  socket.on('data', (chunk) => {
    buffer += chunk.toString('utf8');
    for (;;) {
      const end = inData ? '\r\n.\r\n' : '\r\n';
      const at = buffer.indexOf(end);
      if (at < 0) return;
      const text = buffer.slice(0, at);
      buffer = buffer.slice(at + end.length);
      if (!inData) command(text);
      else {
        inData = false;
        take({ from, to, raw: text });
        to = [];
        say('250 taken');
      }
    }
  });
}

/** The text part of a mail, decoded. */
export function textOf({ raw }: TakenMail): string {
  const part = raw.split(/\r\n--[^\r\n]+/).find((one) => /content-type: text\/plain/i.test(one)) ?? raw;
  const [head = '', ...rest] = part.split('\r\n\r\n');
  const body = rest.join('\r\n\r\n');
  if (/content-transfer-encoding: base64/i.test(head)) return Buffer.from(body, 'base64').toString('utf8');
  if (!/content-transfer-encoding: quoted-printable/i.test(head)) return body;
  const joined = body.replace(/=\r\n/g, '');
  return Buffer.from(
    joined.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');
}
