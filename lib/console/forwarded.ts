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

/**
 * Leaves `X-Forwarded-For` only where a proxy nearby can have written it. From anywhere else it is the
 * client's own invention, with which it would be a new address at every sign-in that it tries.
 */
export function trustForwarded(request: {
  headers: IncomingMessage['headers'];
  socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
}): void {
  const peer = request.socket.remoteAddress ?? '';
  const address = peer.replace(/^::ffff:(?=\d+\.)/i, '');
  if (near.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return;
  request.headers['x-forwarded-for'] = address;
}
