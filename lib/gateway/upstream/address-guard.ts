import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Whether an IP address, IPv6 with or without its brackets, is not one of the public internet: of this machine, of a
 * private network, reserved, or one that leads to an IPv4 address inside another. Nobody outside may direct the
 * gateway there.
 */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() !== 'unicast';
}

/** Whether a name or literal is not of the public internet; one that cannot be judged counts as public. */
export function isPrivateHost(hostname: string): Promise<boolean> {
  if (ipaddr.isValid(hostname.replace(/^\[|\]$/g, ''))) return Promise.resolve(isPrivateAddress(hostname));
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
