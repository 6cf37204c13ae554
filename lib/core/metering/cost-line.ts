/** One price class of a charge (contract: operations/call-show). Money as nano-dollars. */
export interface CostLine {
  /** `input`, `cachedInput`, …; nested models add ":upstream-model". */
  readonly class: string;
  /** A whole number. */
  readonly quantity: number;
  /** Nano-dollars per million units. */
  readonly unitPriceNano: bigint;
}
