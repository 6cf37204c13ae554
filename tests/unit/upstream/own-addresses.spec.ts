import type dns from 'node:dns';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { refuseAddress } from '#lib/control/alerts/address';
import type { Exchange } from '#lib/gateway/upstream/exchange';
import { follow } from '#lib/gateway/upstream/follow';
import { createPools } from '#lib/gateway/upstream/pools';
import { failureName } from '#lib/gateway/upstream/pure/classify';

// Other files of this worker have loaded them with the real resolver.
vi.hoisted(() => vi.resetModules());

/** What names are resolved to, one answer after the other; the last one stays. */
const names = new Map<string, string[][]>();

vi.mock('node:dns', async (original) => {
  const real = await original<typeof dns>();
  const lookup = (name: string, options: object, done: (...found: unknown[]) => void) => {
    const answers = names.get(name);
    if (!answers) return real.lookup(name, options, done as never);
    const [found = []] = answers.length > 1 ? answers.splice(0, 1) : answers;
    done(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { ...real, lookup, default: { ...real, lookup } };
});

let servers: Server[];
let port = 0;
let connections = 0;

beforeAll(async () => {
  const listen = (host: string, at: number) =>
    new Promise<Server>((resolve) => {
      const server = createServer((_, response) => response.end('reached'));
      server.on('connection', () => {
        connections += 1;
      });
      server.on('error', () => resolve(server));
      server.listen(at, host, () => resolve(server));
    });
  const first = await listen('127.0.0.1', 0);
  port = (first.address() as AddressInfo).port;
  servers = [first, await listen('::1', port)];
});
afterAll(() => {
  for (const server of servers) server.close();
});

/** How hosts can be written that are not of the public internet. */
const hosts = [
  ...[
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0177.0.0.1',
    '017700000001',
    '0x7f.0.0.1',
    '0x7f000001',
    '0',
    '0.0.0.0',
  ],
  ...[
    '127.255.255.254',
    '①②⑦.0.0.1',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
  ],
  ...[
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[fe80::1]',
    '[fc00::1]',
  ],
  ...[
    '[fec0::1]',
    '[ff02::1]',
    '[2001:db8::1]',
    '[100::1]',
    '[5f00::1]',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
  ],
  ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1', '198.18.0.1', '192.0.0.192'],
  ...['169.254.169.254', '0xa9fea9fe', '2852039166', '169.254.170.2', '100.100.100.200', '168.63.129.16'],
  ...['224.0.0.1', '240.0.0.1', '255.255.255.255', '192.0.2.1', '198.51.100.1', '203.0.113.1'],
  ...['localhost', 'localhost.', 'LOCALHOST', 'inside.test', 'mixed.test', 'mapped.test', 'nat.test'],
];
names.set('localhost.', [['127.0.0.1']]);
names.set('inside.test', [['10.1.2.3']]);
names.set('mixed.test', [['93.184.216.34', '127.0.0.1']]);
names.set('mapped.test', [['::ffff:169.254.169.254']]);
names.set('nat.test', [['64:ff9b::a9fe:a9fe']]);

async function failureAt(origin: string, pools = createPools()): Promise<string> {
  try {
    const answer = await pools.guarded(origin, 2_000).request({ method: 'GET', path: '/' });
    return `answered ${answer.statusCode}`;
  } catch (error) {
    return failureName(error);
  } finally {
    await pools.close();
  }
}

describe('own addresses (contract: own-keys/address)', () => {
  it.each(hosts)('are refused at %s, without a connection', async (host) => {
    const before = connections;
    for (const scheme of ['http', 'https']) {
      const { origin } = new URL(`${scheme}://${host}:${port}/v1`);
      expect(await failureAt(origin)).toBe('address_refused');
    }
    expect(await refuseAddress(`https://${host}:${port}/v1`)).not.toBeNull();
    expect(connections).toBe(before);
  });

  it('are checked as they are connected to, so that a name that changes its mind reaches nothing', async () => {
    const before = connections;
    names.set('rebinding.test', [['93.184.216.34'], ['127.0.0.1']]);
    expect(await refuseAddress('https://rebinding.test/v1')).toBeNull();
    expect(await failureAt(`http://rebinding.test:${port}`)).toBe('address_refused');
    expect(connections).toBe(before);
  });

  it('are never given to a proxy, which would resolve them itself', async () => {
    const before = connections;
    const proxies = { http: `http://127.0.0.1:${port}`, https: `http://127.0.0.1:${port}`, none: '' };
    expect(await failureAt('http://127.0.0.2:9', createPools(proxies))).toBe('address_refused');
    expect(await failureAt('https://inside.test', createPools(proxies))).toBe('address_refused');
    expect(connections).toBe(before);
  });

  it('are not followed to where they redirect, not even within their origin', async () => {
    const pools = createPools();
    const before = connections;
    const to = (location: string) => {
      const first = { status: 302, headers: { location }, abort: () => {} } as unknown as Exchange;
      const address = new URL('https://93.184.216.34/v1');
      const timeLimits = { connectMs: 1_000 } as never;
      return follow(pools, first, { address, own: true, headers: [], timeLimits, underway: () => {} });
    };
    for (const location of [`http://127.0.0.1:${port}/`, 'https://93.184.216.34/v1/other', '/v1/other'])
      expect(await to(location).then(() => 'followed', failureName)).toBe('redirect_refused');
    expect(connections).toBe(before);
    await pools.close();
  });

  it('are connected to if they are public', async () => {
    names.set('public.test', [['93.184.216.34']]);
    // Nothing answers there in a test, but it is tried.
    const pools = createPools();
    const tried = pools.guarded('http://public.test:9', 50).request({ method: 'GET', path: '/' });
    expect(await tried.then(() => 'answered', failureName)).not.toBe('address_refused');
    await pools.close();
  });
});
