import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Addresses of this machine, of private networks, and reserved ones: nobody outside may direct the gateway there. */
const inside = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  inside.addSubnet(net, bits, 'ipv4');
}
for (const [net, bits] of [
  ['::', 127],
  ['64:ff9b::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  inside.addSubnet(net, bits, 'ipv6');
}

/** Whether an IP address, IPv6 with or without its brackets, is not one of the public internet. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '');
  const version = isIP(bare);
  return version !== 0 && inside.check(bare, version === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a name or literal is not of the public internet; one that cannot be judged counts as public. */
export function isPrivateHost(hostname: string): Promise<boolean> {
  if (isIP(hostname.replace(/^\[|\]$/g, ''))) return Promise.resolve(isPrivateAddress(hostname));
  return new Promise((resolve) => {
    lookup(hostname, { all: true }, (error, found) => {
      resolve(error === null && found.some(({ address }) => isPrivateAddress(address)));
    });
  });
}

class PrivateAddress extends Error {
  readonly code = 'REDIRECT_REFUSED';
}

/** Resolves names for connections to untrusted hosts: the address that was checked is the one connected to. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const [first] = found ?? [];
    if (error) callback(error, []);
    else if (!first || found.some(({ address }) => isPrivateAddress(address))) {
      callback(new PrivateAddress(`${hostname} is a private address`), []);
    } else if (options.all) callback(null, found);
    else callback(null, first.address, first.family);
  });
};
