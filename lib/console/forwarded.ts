import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';

/** Where a reverse proxy of the operator's stands: on this machine or in its private network. */
const near = new BlockList();
near.addSubnet('127.0.0.0', 8, 'ipv4');
near.addSubnet('10.0.0.0', 8, 'ipv4');
near.addSubnet('172.16.0.0', 12, 'ipv4');
near.addSubnet('192.168.0.0', 16, 'ipv4');
near.addAddress('::1', 'ipv6');
near.addSubnet('fc00::', 7, 'ipv6');
near.addSubnet('fe80::', 10, 'ipv6');

/** An IPv4 address as a socket for both kinds writes it, "::ffff:192.0.2.1", without that. */
function unmapped(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

/**
 * Leaves `X-Forwarded-For` only where a proxy nearby can have written it. From anywhere else it is the
 * client's own invention, with which it would be a new address at every sign-in that it tries.
 */
export function trustForwarded(request: {
  headers: IncomingMessage['headers'];
  socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
}): void {
  const address = unmapped(request.socket.remoteAddress ?? '');
  if (near.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return;
  request.headers['x-forwarded-for'] = address;
}

/** Where a request came from: what a proxy nearby forwards, else the peer itself. */
export function clientAddress(request: Parameters<typeof trustForwarded>[0]): string | null {
  trustForwarded(request);
  return (
    nearestHop(request.headers['x-forwarded-for']) ?? (unmapped(request.socket.remoteAddress ?? '') || null)
  );
}

/** The hop nearest to us, as `trustForwarded` left it: what stands before it was written by the client. */
export function nearestHop(forwarded: unknown): string | null {
  return (
    String(forwarded ?? '')
      .split(',')
      .at(-1)
      ?.trim() || null
  );
}

/**
 * Whom failed sign-ins are counted for: an address, or the /64 network of an IPv6 address, within which
 * one client has as many as it likes.
 */
export function clientOf(given: string): string {
  const address = unmapped(given);
  if (!isIPv6(address)) return address;
  const [start = '', end] = address.split('%')[0]?.split('::') ?? [];
  const [before, after] = [start, end ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  if (!before || !after) return address;
  // An IPv4 address at the end stands for two groups.
  const written = before.length + after.length + (address.includes('.') ? 1 : 0);
  const groups = end === undefined ? before : [...before, ...Array(8 - written).fill('0'), ...after];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
