import type { Proxies } from '#lib/platform/env/part-settings';
/** The proxies by which providers are reached (contract: operations/proxies). */
/** With one more address that is reached directly, as the simulated provider is; undefined: none. */
export function directTo(proxies: Proxies | null, address: string | null | undefined): Proxies | null {
  if (proxies === null || !address) return proxies;
  return { ...proxies, none: `${proxies.none},${new URL(address).host}` };
}
