import { isPrivateAddress, isPrivateHost } from '#lib/gateway/upstream/address-guard';

/**
 * Why an address is none that a webhook may have; null: it may. A workspace gives it, so it must lead to the public
 * internet (contract: control-plane/webhooks).
 */
export async function refuseAddress(text: string): Promise<string | null> {
  if (!URL.canParse(text)) return 'write an address like https://hooks.example.com/gateway';
  const url = new URL(text);
  if (url.protocol !== 'https:') return 'use https: events tell of your workspace';
  if (url.username !== '' || url.password !== '') return 'leave user name and password out of the address';
  if (isPrivateAddress(url.hostname) || isLocalName(url.hostname) || (await isPrivateHost(url.hostname)))
    return 'this address is private; webhooks go to the public internet alone';
  return null;
}

function isLocalName(hostname: string): boolean {
  return /(?:^|\.)(?:localhost|local|internal|localdomain)\.?$/i.test(hostname);
}
