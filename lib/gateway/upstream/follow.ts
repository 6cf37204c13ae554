import type { AttemptLimits } from '#lib/gateway/routing/pure/time-limits';
import { isPrivateHost } from '#lib/gateway/upstream/address-guard';
import { Exchange } from '#lib/gateway/upstream/exchange';
import { headersElsewhere } from '#lib/gateway/upstream/headers';
import type { Pools } from '#lib/gateway/upstream/pools';

/** Redirects in a row that are followed. */
const MOST = 3;
const redirects = new Set([301, 302, 303, 307, 308]);

export interface Followed {
  /** The provider's own address. */
  readonly address: URL;
  /** Of the first request, undici's flat list; the credential among them. */
  readonly headers: readonly string[];
  readonly timeLimits: AttemptLimits;
  /** The address is a workspace's own: its redirects are not followed (contract: own-keys/address). */
  readonly own?: boolean;
  /** The exchange under way now, so that a client that leaves can end it. */
  underway(exchange: Exchange): void;
}

/** The provider redirects the gateway to a forbidden address, or too often. */
class RedirectRefused extends Error {
  readonly code = 'REDIRECT_REFUSED';
}

/**
 * The answer behind a provider's redirects of a download (contract: jobs/downloads, request/redirects): within its
 * origin with the credential; elsewhere without it, only over https and to public addresses, unless the provider
 * itself is at a private one. Once it has left the origin, the credential is not sent again.
 * @returns the same exchange if it is not a redirect.
 * @throws Error of the connection; `REDIRECT_REFUSED`.
 */
export async function follow(pools: Pools, first: Exchange, run: Followed): Promise<Exchange> {
  let exchange = first;
  let at = run.address;
  let headers: string[] = [...run.headers];
  let inside = true;
  for (let count = 0; redirects.has(exchange.status); count += 1) {
    const location = exchange.headers.location;
    exchange.abort(new Error('its redirect is followed'));
    if (typeof location !== 'string' || run.own || count === MOST)
      throw new RedirectRefused('too many redirects');
    const to = URL.canParse(location, at) ? new URL(location, at) : null;
    if (!to || !/^https?:$/.test(to.protocol)) throw new RedirectRefused('not an address');
    if (to.origin !== run.address.origin && inside) {
      inside = false;
      headers = headersElsewhere(headers);
    }
    exchange = await open(pools, to, headers, run);
    at = to;
  }
  return exchange;
}

async function open(pools: Pools, to: URL, headers: string[], run: Followed): Promise<Exchange> {
  const { timeLimits, address } = run;
  const trusted = to.origin === address.origin || (await isPrivateHost(address.hostname));
  if (!trusted && (to.protocol !== 'https:' || (await isPrivateHost(to.hostname)))) {
    throw new RedirectRefused('not a public https address');
  }
  const exchange = new Exchange(timeLimits, { decodes: false });
  run.underway(exchange);
  const { connectMs } = timeLimits;
  const dispatcher = trusted ? pools.for(to.origin, connectMs) : pools.untrusted(to.origin, connectMs);
  dispatcher.dispatch({ method: 'GET', path: `${to.pathname}${to.search}`, headers, body: null }, exchange);
  await exchange.ready;
  return exchange;
}
