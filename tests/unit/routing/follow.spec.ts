import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isPrivateAddress } from '#lib/gateway/upstream/address-guard';
import { Exchange } from '#lib/gateway/upstream/exchange';
import { follow } from '#lib/gateway/upstream/follow';
import { createPools } from '#lib/gateway/upstream/pools';
import { failureName } from '#lib/gateway/upstream/pure/classify';

const minute = 60_000;
const timeLimits = {
  connectMs: minute,
  firstByteMs: minute,
  firstWordMs: minute,
  idleMs: minute,
  totalMs: Infinity,
  holdMs: minute,
};
const pools = createPools();
let provider: { readonly server: Server; readonly origin: string };
let elsewhere: { readonly server: Server; readonly origin: string };
let arrived: { readonly at: string; readonly headers: IncomingHttpHeaders }[] = [];

/** "/to?http://…" redirects there; everything else is the file. */
async function listen(name: string) {
  const server = createServer((request, response) => {
    const target = request.url ?? '';
    arrived.push({ at: `${name} ${target}`, headers: request.headers });
    const to = target.split('?')[1];
    if (!target.startsWith('/to?') || to === undefined) response.end(`${name} ${target}`);
    else response.writeHead(302, to === '' ? {} : { location: decodeURIComponent(to) }).end('moved');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, origin: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` };
}

beforeAll(async () => {
  [provider, elsewhere] = [await listen('provider'), await listen('elsewhere')];
});
afterAll(async () => {
  await pools.close();
  for (const { server } of [provider, elsewhere]) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  arrived = [];
});

const to = (location: string) => `/to?${encodeURIComponent(location)}`;

/** Asks the provider for `path` and follows from there. @param at where its address says that it is. */
async function download(path: string, at = `${provider.origin}/v1`): Promise<string> {
  const headers = ['x-goog-api-key', 'secret', 'range', 'bytes=1-', 'if-range', '"1"', 'openai-beta', 'b'];
  const first = new Exchange(timeLimits);
  pools.for(provider.origin, minute).dispatch({ method: 'GET', path, headers }, first);
  await first.ready;
  const last = await follow(pools, first, { address: new URL(at), headers, timeLimits, underway: () => {} });
  return `${last.status} ${Buffer.from(await last.peek()).toString()}`;
}

const failureOf = (path: string, at?: string) => download(path, at).then(() => 'none', failureName);

describe('a download that its provider redirects (contract: jobs/downloads)', () => {
  it('a redirect within the provider is followed with the credential', async () => {
    expect(await download(to('/download/film?alt=media'))).toBe('200 provider /download/film?alt=media');
    expect(arrived.map(({ headers }) => headers['x-goog-api-key'])).toEqual(['secret', 'secret']);
  });

  it('a redirect elsewhere is followed without the credential, and only with the range', async () => {
    expect(await download(to(`${elsewhere.origin}/film`))).toBe('200 elsewhere /film');
    const { headers } = arrived[1] ?? { headers: {} };
    expect(headers).toMatchObject({ range: 'bytes=1-', 'if-range': '"1"' });
    expect(Object.keys(headers).sort()).toEqual(['connection', 'host', 'if-range', 'range']);
  });

  it('a redirect back from elsewhere is followed without the credential', async () => {
    await download(to(`${elsewhere.origin}${to(`${provider.origin}/film`)}`));
    expect(arrived.map(({ at }) => at.split(' ')[0])).toEqual(['provider', 'elsewhere', 'provider']);
    expect(arrived.map(({ headers }) => headers['x-goog-api-key'])).toEqual(['secret', undefined, undefined]);
  });

  it('three redirects in a row are followed, and no more', async () => {
    expect(await download(to(to(to('/film'))))).toBe('200 provider /film');
    expect(await failureOf(to(to(to(to('/film')))))).toBe('redirect_refused');
  });

  it('a redirect without a valid address is refused', async () => {
    expect(await failureOf(to('http://[nowhere'))).toBe('redirect_refused');
    expect(await failureOf(to('file:///etc/passwd'))).toBe('redirect_refused');
    expect(await failureOf(to(''))).toBe('redirect_refused');
    expect(await failureOf(to('http://127.0.0.1:1/'))).toBe('connection_refused');
  });

  it('an answer that is not a redirect is passed on as it is', async () => {
    expect(await download('/film')).toBe('200 provider /film');
    expect(arrived).toHaveLength(1);
  });

  it.each([
    'http://93.184.216.34/film',
    'https://127.0.0.1/film',
    'https://[::1]/film',
    'https://[::ffff:10.0.0.1]/film',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/film',
  ])('from a public provider does not lead to %s', async (location) => {
    expect(await failureOf(to(location), 'https://93.184.216.34/v1')).toBe('redirect_refused');
    expect(arrived).toHaveLength(1);
  });
});

describe('a provider whose address cannot be told', () => {
  it('a provider whose address cannot be determined counts as public: its redirects reach no private address', async () => {
    const at = 'https://provider.invalid/v1';
    expect(await failureOf(to(`${elsewhere.origin}/film`), at)).toBe('redirect_refused');
    expect(arrived).toHaveLength(1);
  });
});

describe('an address', () => {
  it.each(['10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '0.0.0.0', '::', 'fd00::1', 'fe80::1'])(
    '%s is private',
    (address) => expect(isPrivateAddress(address)).toBe(true),
  );
  it.each(['8.8.8.8', '172.32.0.1', '2606:4700::1111', '[2606:4700::1111]'])('%s is public', (address) =>
    expect(isPrivateAddress(address)).toBe(false),
  );
});
