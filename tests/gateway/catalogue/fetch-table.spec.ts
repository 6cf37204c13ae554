import { gzipSync } from 'node:zlib';
import { MockAgent } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { fetchTable } from '#lib/control/price-tables/fetch-table';
import { createPools } from '#lib/gateway/upstream/pools';

const agent = new MockAgent();
agent.disableNetConnect();
const pools = createPools();
afterAll(async () => {
  await agent.close();
  await pools.close();
});

const site = agent.get('https://prices.test');
const reach = { dispatcher: () => agent, isPrivate: async (host: string) => host !== 'prices.test' };
const answer = (path: string, status: number, body: string | Buffer, headers: Record<string, string> = {}) =>
  site.intercept({ path, method: 'GET' }).reply(status, body, { headers });
const why = (address: string, given: object = {}) =>
  fetchTable(address, { ...reach, ...given }).then(
    () => 'no error',
    (error: Error) => error.message,
  );

describe('a price table is read from the public internet (contract: control-plane/price-tables)', () => {
  it('through redirects, compressed or not', async () => {
    answer('/a', 302, '', { location: '/b' });
    answer('/b', 301, '', { location: 'https://prices.test/c' });
    answer('/c', 200, gzipSync('{"ok":1}'), { 'content-encoding': 'gzip' });
    expect(await fetchTable('https://prices.test/a', reach)).toBe('{"ok":1}');
  });

  it('with a limit of redirects, each of which is checked like the first address', async () => {
    for (let at = 0; at < 4; at += 1) answer(`/loop${at}`, 302, '', { location: `/loop${at + 1}` });
    expect(await why('https://prices.test/loop0')).toContain('redirects more than 3 times');
    answer('/in', 302, '', { location: 'https://10.0.0.1/table' });
    expect(await why('https://prices.test/in')).toContain(
      'redirects to an address that is not on the public',
    );
    answer('/plain', 302, '', { location: 'http://prices.test/table' });
    expect(await why('https://prices.test/plain')).toContain('does not begin with https://');
  });

  it('with a limit of size, declared or not, also behind a compression', async () => {
    const most = { mostBytes: 1024 * 1024 };
    answer('/declared', 200, 'x', { 'content-length': '999999999' });
    answer('/long', 200, 'x'.repeat(2 * 1024 * 1024));
    answer('/bomb', 200, gzipSync(Buffer.alloc(20 * 1024 * 1024)), { 'content-encoding': 'gzip' });
    for (const path of ['declared', 'long', 'bomb'])
      expect(await why(`https://prices.test/${path}`, most)).toContain('is larger than 1 MiB');
  });

  it('with a limit of time, and an error that says what happened', async () => {
    site.intercept({ path: '/slow', method: 'GET' }).reply(200, '{}').delay(60_000);
    expect(await why('https://prices.test/slow', { limitMs: 50 })).toContain('did not answer within 0.05 s');
    answer('/gone', 404, 'no');
    expect(await why('https://prices.test/gone')).toContain('answered 404');
  });

  it.each([
    'https://127.0.0.1/t',
    'https://2130706433/t',
    'https://0x7f.1/t',
    'https://[::ffff:10.0.0.1]/t',
    'https://169.254.169.254/latest',
    'https://localhost/t',
  ])('never from %s', async (address) => {
    const dispatcher = () => {
      throw new Error('connected');
    };
    const message = await fetchTable(address, { dispatcher }).catch((error: Error) => error.message);
    expect(message).toContain('is not on the public internet');
  });

  it('never from a name that resolves to a private address only when it is connected to', async () => {
    const rebound = { isPrivate: async () => false, dispatcher: pools.untrusted };
    expect(await why('https://localhost:9/t', rebound)).toContain('is not on the public internet');
  });

  it.each([
    ['ftp://prices.test/t', 'does not begin with https://'],
    ['https://user:word@prices.test/t', 'user name or password'],
    ['prices', 'is not an address'],
  ])('%s is no address for it', async (address, message) => {
    expect(await why(address)).toContain(message);
  });
});
