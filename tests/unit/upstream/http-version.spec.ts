import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPools, type Pools } from '#lib/gateway/upstream/pools';
import { type Certificate, trustCertificate } from '#tests/support/certificate';
import { type ConnectProxy, startConnectProxy } from '#tests/support/connect-proxy';

const minute = 60_000;
let certificate: Certificate;
let server: ReturnType<typeof createSecureServer>;
let proxy: ConnectProxy;

beforeAll(async () => {
  certificate = trustCertificate(['localhost']);
  server = createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) => {
    response.end(request.httpVersion);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await startConnectProxy();
});
afterAll(async () => {
  certificate.forget();
  await proxy.close();
  server.close();
});

describe('a provider that offers HTTP/2 (contract: routing/pooled-connections)', () => {
  it.each<[string, () => Pools]>([
    ['directly', () => createPools()],
    ['through a proxy', () => createPools({ https: proxy.url, http: null, none: '' })],
  ])('is called %s by HTTP/1.1', async (_, open) => {
    const pools = open();
    const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
    for (const pool of [pools.for(origin, minute), pools.fresh(origin, minute)]) {
      const { body } = await pool.request({ path: '/', method: 'GET' });
      expect(await body.text()).toBe('1.1');
    }
    await pools.close();
  });
});
