import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Within Azure, this public address is the host of the machine, which has its secrets. */
const azureHost = '168.63.129.16';

/**
 * Whether an IP address, IPv6 with or without its brackets, is not one of the public internet: of this machine, of a
 * private network, reserved, or one that leads to an IPv4 address inside another. Nobody outside may direct the
 * gateway there.
 */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '');
  if (!ipaddr.isValid(bare)) return false;
  const read = ipaddr.process(bare);
  if (read.range() !== 'unicast' || read.toString() === azureHost) return true;
  // Of IPv6, only 2000::/3 is in use on the public internet.
  return read instanceof ipaddr.IPv6 && ((read.parts[0] ?? 0) & 0xe000) !== 0x2000;
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
  readonly code: 'REDIRECT_REFUSED' | 'ADDRESS_REFUSED';

  constructor(hostname: string, code: PrivateAddress['code']) {
    super(`${hostname} is a private address`);
    this.code = code;
  }
}

/** An address literal is never resolved, so that the lookup does not see it. @throws if it is a private one. */
export function refusePrivate(origin: string): void {
  const { hostname } = new URL(origin);
  if (isPrivateAddress(hostname)) throw new PrivateAddress(hostname, 'ADDRESS_REFUSED');
}

/**
 * Resolves names for connections to untrusted hosts: the address that was checked is the one connected to, so that a
 * name that is resolved to another address later changes nothing.
 */
function guardedLookup(code: PrivateAddress['code']): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error) callback(error, []);
      else if (!first || found.some(({ address }) => isPrivateAddress(address))) {
        callback(new PrivateAddress(hostname, code), []);
      } else if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

/** For where a provider redirects the gateway to. */
export const redirectLookup = guardedLookup('REDIRECT_REFUSED');
/** For the own addresses of workspaces. */
export const ownAddressLookup = guardedLookup('ADDRESS_REFUSED');
