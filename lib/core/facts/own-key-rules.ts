/** What the operator allows workspaces to store (contract: own-keys/allowed). */
export interface OwnKeyRules {
  /** Whether workspaces may have own keys. */
  readonly allowed: boolean;
  /** Whether these may have an address of their own. */
  readonly addresses: boolean;
  /** The fee in hundredths of a percent of the list price. */
  readonly feePoints: number;
}

export const noOwnKeysAllowed: OwnKeyRules = { allowed: false, addresses: false, feePoints: 0 };

/** From the settings of the process. */
export function ownKeyRulesOf(settings: {
  readonly ownKeys: 'off' | 'on' | 'addresses';
  readonly ownKeyFeePoints: number;
}): OwnKeyRules {
  const { ownKeys, ownKeyFeePoints } = settings;
  return { allowed: ownKeys !== 'off', addresses: ownKeys === 'addresses', feePoints: ownKeyFeePoints };
}
