import type { LookupFunction } from 'node:net';
import { type buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { ownAddressLookup, redirectLookup, refusePrivate } from '#lib/gateway/upstream/address-guard';
import { TelltaleClient } from '#lib/gateway/upstream/kept-connection';
import { createLookup } from '#lib/gateway/upstream/known-names';
import { SpareConnection } from '#lib/gateway/upstream/spare-connection';
import type { Proxies } from '#lib/platform/env/part-settings';

/** One connection pool per origin of a provider. */
export interface Pools {
  /** @param connectMs time limit for a new connection, ms. */
  for(origin: string, connectMs: number): Dispatcher;
  /** For one request, on a connection that no other has used. */
  fresh(origin: string, connectMs: number): Dispatcher;
  /** For one request to an origin that is not configured: a private address is refused when it is connected to. */
  untrusted(origin: string, connectMs: number): Dispatcher;
  /** The same for an address that a workspace gave, without any proxy, which would resolve the name itself. */
  guarded(origin: string, connectMs: number): Dispatcher;
  close(): Promise<void>;
}

/** Without undici's own time limits: the exchange keeps them itself (contract: routing/pooled-connections). */
const settings = {
  // docs/decisions/routing.md has what HTTP/2 would cost.
  allowH2: false,
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 30_000,
  maxHeaderSize: 64 * 1024,
  factory: (origin: URL, options: object) => new TelltaleClient(origin, options),
};

interface Wish {
  readonly connectMs: number;
  readonly connections?: number;
  readonly lookup?: LookupFunction;
  /** Opens its connections; absent: one that has none ready. */
  readonly connector?: buildConnector.connector;
}

interface Kept {
  readonly pool: Dispatcher;
  /** null: behind a proxy. */
  readonly spare: SpareConnection | null;
}

/** @param proxies null: every provider is connected to directly. */
export function createPools(proxies: Proxies | null = null): Pools {
  const pools = new Map<string, Map<number, Kept>>();
  const passing = new Set<Dispatcher>();
  const lookup = createLookup();
  const keep = (origin: string, connectMs: number): Kept => {
    const spare = proxies === null ? new SpareConnection(connectMs, lookup) : null;
    const kept = {
      spare,
      pool: open(origin, { connectMs, lookup, ...(spare && { connector: spare.connector }) }),
    };
    pools.set(origin, (pools.get(origin) ?? new Map<number, Kept>()).set(connectMs, kept));
    return kept;
  };
  const open = (origin: string, wish: Wish) =>
    proxies === null ? direct(origin, wish) : proxied(origin, wish, proxies);
  const once = (origin: string, wish: Wish, make = open) => {
    const pool = make(origin, { ...wish, connections: 1 });
    passing.add(pool);
    const forget = () => passing.delete(pool);
    return pool.compose((dispatch) => (options, handler) => {
      const going = dispatch(options, handler);
      pool.close().then(forget, forget);
      return going;
    });
  };
  return {
    for: (origin, connectMs) => {
      const kept = pools.get(origin)?.get(connectMs) ?? keep(origin, connectMs);
      kept.spare?.use();
      return kept.pool;
    },
    fresh: (origin, connectMs) => once(origin, { connectMs, lookup }),
    untrusted: (origin, connectMs) => once(origin, { connectMs, lookup: redirectLookup }),
    guarded: (origin, connectMs) => {
      refusePrivate(origin);
      return once(origin, { connectMs, lookup: ownAddressLookup }, direct);
    },
    close: async () => {
      const kept = [...pools.values()].flatMap((here) => [...here.values()]);
      for (const { spare } of kept) spare?.close();
      await Promise.all([...passing, ...kept.map(({ pool }) => pool)].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

function direct(origin: string | URL, { connectMs, connections, lookup, connector }: Wish): Pool {
  return new Pool(origin, {
    ...settings,
    ...(connections && { connections }),
    connect: connector ?? { timeout: connectMs, ...(lookup && { lookup }) },
  });
}

/** Through the proxy that is set for the origin's scheme, unless `NO_PROXY` names it (contract: operations/proxies). */
function proxied(origin: string, wish: Wish, { http, https, none }: Proxies): Dispatcher {
  const { connectMs, connections } = wish;
  const agent = new EnvHttpProxyAgent({
    allowH2: settings.allowH2,
    // Empty rather than absent: undici would read the environment itself.
    httpProxy: http ?? '',
    httpsProxy: https ?? '',
    noProxy: none,
    connectTimeout: connectMs,
    // To the proxy: it must open the tunnel in the time of a connection.
    clientFactory: (proxy, given) => new Pool(proxy, { ...given, headersTimeout: connectMs }),
    // To the origin. The connector is given if there is a proxy.
    factory: (to, given: Pool.Options) =>
      typeof given.connect === 'function'
        ? new Pool(to, { ...settings, ...(connections && { connections }), connect: given.connect })
        : direct(to, wish),
  });
  return agent.compose((dispatch) => (options, handler) => dispatch({ ...options, origin }, handler));
}
