const NANO_PER_CENT = 10_000_000n;

/** Cents as nano-dollars. */
export function nanoOf(cents: number): bigint {
  return BigInt(cents) * NANO_PER_CENT;
}

/** Whole cents of an amount in nano-dollars; null: it has fractions of a cent. */
export function centsOf(nano: bigint): number | null {
  return nano % NANO_PER_CENT === 0n ? Number(nano / NANO_PER_CENT) : null;
}

/** The fee on a top-up, rounded to the nearest cent. @param basisPoints hundredths of a percent. */
export function feeOf(cents: number, basisPoints: number): number {
  return Math.round((cents * basisPoints) / 10_000);
}

/**
 * How much of a credit a refund or dispute takes back: the returned share of the money paid, fee included, rounded up
 * to a nano-dollar; never more than the credit (contract: money/refunds). Nano-dollars.
 */
export function shareOf(creditCents: number, returnedCents: number, paidCents: number): bigint {
  if (returnedCents >= paidCents) return nanoOf(creditCents);
  const paid = BigInt(paidCents);
  return (nanoOf(creditCents) * BigInt(returnedCents) + paid - 1n) / paid;
}
