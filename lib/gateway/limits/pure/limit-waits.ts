import type { StoredLimits } from '#lib/core/facts/snapshot';

/** How the limits of a key or a workspace stand against one claim. */
export interface LimitWaits {
  readonly limits: StoredLimits;
  /** ms until the claim fits; 0: it fits. */
  readonly rpmMs: number;
  readonly tpmMs: number;
  readonly concurrencyFull: boolean;
}

export const noWaits: LimitWaits = {
  limits: { rpm: null, tpm: null, concurrency: null },
  rpmMs: 0,
  tpmMs: 0,
  concurrencyFull: false,
};
