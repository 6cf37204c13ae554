import { once } from 'node:events';
import { createServer as createPlain } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Exchange } from '#lib/gateway/upstream/exchange';
import { follow } from '#lib/gateway/upstream/follow';
import { createPools, type Pools } from '#lib/gateway/upstream/pools';
import { directTo } from '#lib/gateway/upstream/proxies';
import { failureName } from '#lib/gateway/upstream/pure/classify';
import type { Proxies } from '#lib/platform/env/part-settings';
import { type Certificate, trustCertificate } from '#tests/support/certificate';
import { type ConnectProxy, startConnectProxy } from '#tests/support/connect-proxy';

const minute = 60_000;
const times = { firstByteMs: minute, idleMs: minute, firstWordMs: 60_000, holdMs: 5_000, totalMs: minute };

let certificate: Certificate;
let secure: Server;
let plain: ReturnType<typeof createPlain>;
let proxy: ConnectProxy;
let pools: Pools;
/** What a server does with the second request of a connection. */
let drops = false;
const seen = new Map<Socket, number>();

beforeAll(async () => {
  certificate = trustCertificate(['provider.test', 'files.test']);
  secure = createServer(certificate, (request, response) => {
    const uses = (seen.get(request.socket) ?? 0) + 1;
    seen.set(request.socket, uses);
    if (drops && uses > 1) request.socket.end();
    else if (request.url?.startsWith('/to?'))
      response.writeHead(302, { location: decodeURIComponent(request.url.slice(4)) }).end();
    else response.end(`${request.headers.host} ${request.headers.authorization ?? ''}`);
  }).listen(0, '127.0.0.1');
  plain = createPlain((request, response) => response.end(`plain ${request.headers.host}`)).listen(
    0,
    '127.0.0.1',
  );
  await Promise.all([once(secure, 'listening'), once(plain, 'listening')]);
});
afterAll(() => {
  certificate.forget();
  for (const server of [secure, plain]) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(async () => {
  drops = false;
  proxy = await startConnectProxy();
  for (const host of ['provider.test', 'files.test']) proxy.lead(host, portOf(secure));
});
afterEach(async () => {
  await pools.close();
  await proxy.close();
});

function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it does not listen');
  return address.port;
}

function openPools(more: Partial<Proxies> = {}): void {
  pools = createPools({ https: proxy.url, http: proxy.url, none: '', ...more });
}

async function ask(origin: string, { connectMs = minute, path = '/', fresh = false } = {}) {
  const exchange = new Exchange(times);
  const pool = fresh ? pools.fresh(origin, connectMs) : pools.for(origin, connectMs);
  pool.dispatch({ method: 'GET', path, headers: ['authorization', 'Bearer s'] }, exchange);
  try {
    await exchange.ready;
    const text = Buffer.from(await exchange.peek()).toString();
    // The connection is free for the next request only a turn later.
    await new Promise((resolve) => setImmediate(resolve));
    return { text, exchange };
  } catch (error) {
    return { text: failureName(error), exchange };
  }
}

const textOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).text;

describe('providers behind a proxy (contract: operations/proxies)', () => {
  it('an https provider is reached by a tunnel, which is kept', async () => {
    openPools();
    expect(await textOf('https://provider.test')).toBe('provider.test Bearer s');
    expect(await textOf('https://provider.test')).toBe('provider.test Bearer s');
    expect(proxy.asked).toEqual(['CONNECT provider.test:443']);
  });

  it('an http provider is reached by its whole address', async () => {
    openPools();
    const origin = `http://127.0.0.1:${portOf(plain)}`;
    expect(await textOf(origin, { path: '/v1?a=b' })).toBe(`plain ${new URL(origin).host}`);
    expect(proxy.asked).toEqual([`GET ${origin}/v1?a=b`]);
  });

  it('HTTP_PROXY by itself serves both http and https', async () => {
    openPools({ https: null });
    expect(await textOf('https://provider.test')).toContain('provider.test');
    expect(proxy.asked).toHaveLength(1);
  });

  it('HTTPS_PROXY by itself does not apply to http addresses', async () => {
    openPools({ http: null });
    expect(await textOf(`http://127.0.0.1:${portOf(plain)}`)).toContain('plain');
    expect(proxy.asked).toEqual([]);
  });

  it('the name and password in a proxy’s address are only sent to the proxy', async () => {
    openPools({ https: proxy.url.replace('//', '//me:s%40fe@') });
    expect(await textOf('https://provider.test')).toBe('provider.test Bearer s');
    expect(proxy.authorization()).toBe(`Basic ${Buffer.from('me:s@fe').toString('base64')}`);
  });

  it.each(['127.0.0.1', '*', 'other.test, 127.0.0.1'])('NO_PROXY=%s is reached directly', async (none) => {
    openPools({ none });
    expect(await textOf(`http://127.0.0.1:${portOf(plain)}`)).toContain('plain');
    expect(proxy.asked).toEqual([]);
  });

  it('loopback addresses use the proxy too, except the simulated provider', async () => {
    const origin = `http://127.0.0.1:${portOf(plain)}`;
    const proxies = { https: null, http: proxy.url, none: 'other.test' };
    pools = createPools(directTo(proxies, `${origin}/v1`));
    expect(await textOf(origin)).toContain('plain');
    expect(proxy.asked).toEqual([]);
    await pools.close();
    pools = createPools(proxies);
    await textOf(origin);
    expect(proxy.asked).toHaveLength(1);
  });

  it('a proxy that refuses the tunnel and one that does not open it in time have different errors', async () => {
    openPools();
    proxy.answer('refuse');
    expect(await textOf('https://provider.test')).toBe('proxy_refused');
    proxy.answer('silence');
    expect(await textOf('https://provider.test', { connectMs: 300 })).toBe('connect_timeout');
  });

  it('a proxy that is not there is a refused connection', async () => {
    openPools({ https: 'http://127.0.0.1:1' });
    expect(await textOf('https://provider.test')).toBe('connection_refused');
  });

  it('a certificate from an unknown authority is refused in the tunnel too', async () => {
    openPools();
    proxy.lead('unknown.test', portOf(secure));
    expect(await textOf('https://unknown.test')).toBe('certificate_refused');
  });

  it('a kept tunnel that the provider closes is known as one, and a fresh one is opened', async () => {
    openPools();
    drops = true;
    await ask('https://provider.test');
    const { text, exchange } = await ask('https://provider.test');
    expect(text).toBe('connection_closed');
    expect(exchange.wasDropped(minute)).toBe(true);
    expect(await textOf('https://provider.test', { fresh: true })).toContain('provider.test');
    expect(proxy.asked).toHaveLength(2);
  });

  it('a download that is redirected to a stranger goes through it, without the credential', async () => {
    openPools();
    const timeLimits = { ...times, connectMs: minute };
    const headers = ['authorization', 'Bearer s'];
    const first = new Exchange(timeLimits);
    const path = `/to?${encodeURIComponent('https://files.test/file')}`;
    pools.for('https://provider.test', minute).dispatch({ method: 'GET', path, headers }, first);
    await first.ready;
    const address = new URL('https://provider.test/v1');
    const last = await follow(pools, first, { address, headers, timeLimits, underway: () => {} });
    expect(Buffer.from(await last.peek()).toString()).toBe('files.test ');
    expect(proxy.asked).toEqual(['CONNECT provider.test:443', 'CONNECT files.test:443']);
  });

  it('is not led to a private address by such a redirect', async () => {
    openPools();
    const timeLimits = { ...times, connectMs: minute };
    const first = new Exchange(timeLimits);
    const path = `/to?${encodeURIComponent('https://localhost/file')}`;
    pools.for('https://provider.test', minute).dispatch({ method: 'GET', path, headers: [] }, first);
    await first.ready;
    const address = new URL('https://provider.test/v1');
    const led = follow(pools, first, { address, headers: [], timeLimits, underway: () => {} });
    expect(await led.then(() => 'none', failureName)).toBe('redirect_refused');
    expect(proxy.asked).toHaveLength(1);
  });
});
