import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readForm } from '#tests/support/stripe/form';
import { Account, type Session } from '#tests/support/stripe/state';

/** The stand-in as a test drives it. */
export interface StripeServer {
  readonly url: string;
  readonly account: Account;
  /** Requests that arrived, by method and path: what the gateway asked for. */
  readonly asked: string[];
  /** While true, every request of the API is answered 503. */
  down: boolean;
  close(): Promise<void>;
}

/**
 * A stand-in for Stripe: real sockets, its idempotency keys, the page on which people pay. Its only client is the
 * official one.
 */
export async function startStripe(nowSeconds = () => Math.floor(Date.now() / 1000)): Promise<StripeServer> {
  const answers = new Map<string, { body: string; print: string }>();
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const account = new Account(url, nowSeconds);
  const self: StripeServer = {
    url,
    account,
    asked: [],
    down: false,
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
    if (pathname.startsWith('/pay/')) {
      page(account, request.method ?? 'GET', pathname.slice(5), body, response);
      return;
    }
    self.asked.push(`${request.method} ${pathname}`);
    if (self.down) {
      send(response, 503, { error: { type: 'api_error', message: 'down' } });
      return;
    }
    if (!request.headers.authorization?.startsWith('Bearer sk_test_')) {
      send(response, 401, { error: { type: 'invalid_request_error', message: 'Invalid API Key provided' } });
      return;
    }
    const key = request.headers['idempotency-key'];
    const known = typeof key === 'string' ? answers.get(key) : undefined;
    const print = `${request.method} ${pathname} ${body}`;
    if (known && known.print !== print) {
      const message = 'Keys for idempotent requests can only be used with the same parameters';
      send(response, 400, { error: { type: 'idempotency_error', message } });
      return;
    }
    if (known) {
      response.setHeader('idempotent-replayed', 'true');
      sendText(response, 200, known.body);
      return;
    }
    const found = answer(account, request.method ?? 'GET', pathname, searchParams, body);
    if (found === null) {
      send(response, 404, {
        error: { type: 'invalid_request_error', message: `No such resource: ${pathname}` },
      });
      return;
    }
    const text = JSON.stringify(found);
    if (typeof key === 'string') answers.set(key, { body: text, print });
    sendText(response, 200, text);
  }
  return self;
}

function answer(
  account: Account,
  method: string,
  path: string,
  query: URLSearchParams,
  body: string,
): object | null {
  if (method === 'POST' && path === '/v1/checkout/sessions') return account.createSession(readForm(body));
  const [, kind = '', id] =
    /^\/v1\/(checkout\/sessions|payment_intents|events)(?:\/([^/]+))?$/.exec(path) ?? [];
  if (kind === 'checkout/sessions' && id) return account.sessions.get(id) ?? null;
  if (kind === 'payment_intents' && id) return account.intents.get(id) ?? null;
  const since = Number(query.get('created[gte]') ?? 0);
  const newest = <One extends { id: string; created: number }>(all: readonly One[]) => {
    const fitting = all.filter(({ created }) => created >= since).toReversed();
    const after = query.get('starting_after');
    const from = after === null ? 0 : fitting.findIndex(({ id }) => id === after) + 1;
    const limit = Number(query.get('limit') ?? 10);
    const data = fitting.slice(from, from + limit);
    return { object: 'list', url: path, has_more: from + limit < fitting.length, data };
  };
  if (kind === 'payment_intents') {
    const { data, ...list } = newest([...account.intents.values()]);
    // As asked for by expand[]=data.latest_charge.
    const expanded = data.map((one) => ({
      ...one,
      latest_charge: account.charges.get(one.latest_charge ?? ''),
    }));
    return { ...list, data: expanded };
  }
  if (kind === 'events') {
    const types = [...query].flatMap(([name, value]) => (name.startsWith('types[') ? [value] : []));
    return newest(account.events.filter(({ type }) => types.length === 0 || types.includes(type)));
  }
  return null;
}

/** The page on which people pay. */
function page(account: Account, method: string, id: string, body: string, response: ServerResponse): void {
  const session: Session | undefined = account.sessions.get(id);
  if (!session) {
    sendText(response, 404, 'no such session');
    return;
  }
  if (method === 'POST') {
    const how = new URLSearchParams(body).get('how');
    if (how === 'pay') account.pay(session);
    if (how === 'decline') account.decline(session);
    response.writeHead(303, { location: session.success_url }).end();
    return;
  }
  const dollars = (session.amount_total / 100).toFixed(2);
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html><html lang="en"><title>Test payment</title><h1>Test payment of $${dollars}</h1>
<form method="post"><button name="how" value="pay">Pay</button><button name="how" value="decline">Decline</button>
<button name="how" value="cancel">Cancel</button></form>`);
}

function send(response: ServerResponse, status: number, body: object): void {
  sendText(response, status, JSON.stringify(body));
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test' });
  response.end(text);
}
