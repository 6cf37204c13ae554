/**
 * The provider that answers for trying out, and the only one that simulated money pays
 * (contract: money/simulated-money).
 */
export const simulatedProvider = 'sandbox';

/** Where the catalogue finds its address; it has no other one. */
export const simulatedAddress = 'SANDBOX_URL';
