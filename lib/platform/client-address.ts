import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/** Where the operator's reverse proxies are: on this machine or in its private network. */
const near: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal', 'linkLocal']);

/** An IPv4 address as a socket for both kinds writes it, "::ffff:192.0.2.1", without that. */
function unmapped(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}

/**
 * Leaves in `X-Forwarded-For` only the address that the outermost of the operator's proxies saw, and only where a proxy
 * nearby can have written it. The client can invent the rest, and could use a new address for every attempt to sign in.
 * @param hops proxies in front of the gateway (`PROXY_HOPS`), each of which adds the address it was called from.
 */
export function trustForwarded(
  request: {
    headers: IncomingMessage['headers'];
    socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
  },
  hops: number,
): void {
  const address = unmapped(request.socket.remoteAddress ?? '');
  const isNear = ipaddr.isValid(address) && near.has(ipaddr.parse(address).range());
  if (!isNear) request.headers['x-forwarded-for'] = address;
  const chain = String(request.headers['x-forwarded-for'] ?? '').split(',');
  // A shorter chain bypassed one of the proxies: then only the nearest address can be trusted.
  if (chain.length > 1) request.headers['x-forwarded-for'] = (chain.at(-hops) ?? chain.at(-1) ?? '').trim();
}

/** Where a request came from: what a proxy nearby forwards, else the peer itself. */
export function clientAddress(request: Parameters<typeof trustForwarded>[0], hops: number): string | null {
  trustForwarded(request, hops);
  return (
    nearestHop(request.headers['x-forwarded-for']) ?? (unmapped(request.socket.remoteAddress ?? '') || null)
  );
}

/** The nearest hop, as `trustForwarded` left it: everything before it was written by the client. */
export function nearestHop(forwarded: unknown): string | null {
  return (
    String(forwarded ?? '')
      .split(',')
      .at(-1)
      ?.trim() || null
  );
}

/**
 * What failed sign-ins are counted by: an address, or the /64 network of an IPv6 address, in which one client can have
 * any number of addresses.
 */
export function clientOf(given: string): string {
  if (!ipaddr.isValid(given)) return given;
  const address = ipaddr.process(given);
  if (address instanceof ipaddr.IPv4) return address.toString();
  const network = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}
