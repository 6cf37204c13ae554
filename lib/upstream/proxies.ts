/** The proxies by which providers are reached (contract: operations/proxies). */
export interface Proxies {
  /** For http addresses, and for https where `https` is null. */
  readonly http: string | null;
  readonly https: string | null;
  /** Hosts that are reached without one, as `NO_PROXY` lists them. */
  readonly none: string;
}

/** With one more address that is reached directly, as the simulated provider is; undefined: none. */
export function directTo(proxies: Proxies | null, address: string | null | undefined): Proxies | null {
  if (proxies === null || !address) return proxies;
  return { ...proxies, none: `${proxies.none},${new URL(address).host}` };
}
