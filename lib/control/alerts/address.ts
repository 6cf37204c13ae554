import { isPrivateAddress, isPrivateHost } from '#lib/gateway/upstream/address-guard';

/**
 * Why a webhook may not have an address; null: it may. A workspace sets it, so it must point to the public internet
 * (contract: control-plane/webhooks).
 */
export async function refuseAddress(text: string): Promise<string | null> {
  if (!URL.canParse(text)) return 'enter a URL such as https://hooks.example.com/gateway';
  const url = new URL(text);
  if (url.protocol !== 'https:') return 'use https: events contain data about your workspace';
  if (url.username !== '' || url.password !== '') return 'remove the user name and password from the address';
  if (isPrivateAddress(url.hostname) || isLocalName(url.hostname) || (await isPrivateHost(url.hostname)))
    return 'this address is private; use one on the public internet';
  return null;
}

function isLocalName(hostname: string): boolean {
  return /(?:^|\.)(?:localhost|local|internal|localdomain)\.?$/i.test(hostname);
}
