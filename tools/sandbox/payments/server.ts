import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '#lib/core/errors';
import { Account } from '#tools/sandbox/payments/account';
import { keepIn } from '#tools/sandbox/payments/kept';
import { type Page, page } from '#tools/sandbox/payments/pages';
import { type Answered, answer } from '#tools/sandbox/payments/routes';

/** The running stand-in, and how tests control it. */
export interface StripeServer {
  readonly url: string;
  readonly account: Account;
  /** Requests that arrived, by method and path. */
  readonly asked: string[];
  /** While true, every request to the API gets 503. */
  down: boolean;
  /** Awaited before and after a request to the API takes effect. */
  before: (what: string) => Promise<void> | void;
  after: (what: string) => Promise<void> | void;
  close(): Promise<void>;
}

export interface StandInOptions {
  readonly port?: number;
  /** The file that keeps its account; absent: it is not kept. */
  readonly file?: string;
  nowSeconds?(): number;
}

interface Kept {
  readonly print: string;
  /** null: it is still being answered. */
  answered: Answered | null;
}

/**
 * A stand-in for Stripe: real sockets, its idempotency keys, the pages for paying. Its only client is the official one.
 */
export async function startStripe({
  port = 0,
  file,
  nowSeconds = () => Math.floor(Date.now() / 1000),
}: StandInOptions = {}): Promise<StripeServer> {
  const answers = new Map<string, Kept>();
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const account = new Account(url, nowSeconds);
  const kept = file === undefined ? null : keepIn(file, account);
  const self: StripeServer = {
    url,
    account,
    asked: [],
    down: false,
    before: () => {},
    after: () => {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    const method = request.method ?? 'GET';
    if (!pathname.startsWith('/v1/')) {
      showPage(response, page(account, method, pathname, body));
      if (method === 'POST') kept?.save();
      return;
    }
    self.asked.push(`${method} ${pathname}`);
    const key = request.headers['idempotency-key'];
    const asked = { method, path: pathname, query: searchParams, body };
    const take = async (): Promise<Answered> => {
      await self.before(`${method} ${pathname}`);
      const answered = attempt(() => answer(account, asked)) ?? missing(pathname);
      if (method === 'POST') kept?.save();
      await self.after(`${method} ${pathname}`);
      return answered;
    };
    const refused = refusalOf(self, request);
    if (refused) send(response, refused);
    else if (typeof key !== 'string') send(response, await take());
    else await once(response, key, `${method} ${pathname} ${body}`, take);
  }

  /** As at Stripe: a key keeps its first answer, even an error; other parameters and concurrent requests are refused. */
  async function once(response: ServerResponse, key: string, print: string, take: () => Promise<Answered>) {
    const known = answers.get(key);
    if (known && known.print !== print) {
      const message = 'Keys for idempotent requests can only be used with the same parameters';
      send(response, { status: 400, body: { error: { type: 'idempotency_error', message } } });
    } else if (known && known.answered === null) {
      const error = { type: 'invalid_request_error', code: 'idempotency_key_in_use', message: 'In use.' };
      send(response, { status: 409, body: { error } });
    } else if (known?.answered) {
      response.setHeader('idempotent-replayed', 'true');
      send(response, known.answered);
    } else {
      const entry: Kept = { print, answered: null };
      answers.set(key, entry);
      entry.answered = await take();
      send(response, entry.answered);
    }
  }
  return self;
}

function refusalOf({ down }: StripeServer, request: IncomingMessage): Answered | null {
  if (down) return { status: 503, body: { error: { type: 'api_error', message: 'down' } } };
  if (request.headers.authorization?.startsWith('Bearer sk_test_')) return null;
  return {
    status: 401,
    body: { error: { type: 'invalid_request_error', message: 'Invalid API Key provided' } },
  };
}

function attempt(act: () => Answered | null): Answered | null {
  try {
    return act();
  } catch (error) {
    const message = messageOf(error);
    const param = /^No such customer/.test(message) ? { param: 'customer' } : {};
    const body = { error: { type: 'invalid_request_error', code: 'resource_missing', message, ...param } };
    return { status: 400, body };
  }
}

function missing(path: string): Answered {
  const message = `No such resource: ${path}`;
  return {
    status: 404,
    body: { error: { type: 'invalid_request_error', code: 'resource_missing', message } },
  };
}

function showPage(response: ServerResponse, shown: Page): void {
  if (shown === null) response.writeHead(404, { 'content-type': 'text/plain' }).end('Page not found.');
  else if ('location' in shown) response.writeHead(303, { location: shown.location }).end();
  else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(shown.html);
}

function send(response: ServerResponse, { status, body }: Answered): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test' });
  response.end(JSON.stringify(body));
}
