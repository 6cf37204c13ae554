import { showDay } from '#lib/console/show/time';
import type { ShownPromo } from '#lib/control/operations/credit/promo';
import { showMoney, showMoneyDown } from '#lib/core/show-money';

/** An active promo credit, formatted. */
export interface PromoShown {
  readonly id: string;
  readonly left: string;
  /** "of $25.00". */
  readonly given: string;
  readonly until: string;
  readonly reason: string | null;
}

/** The promo credits with something left, the next to expire first. @param zone IANA. */
export function promosInForce(
  promos: readonly ShownPromo[],
  { zone, nowMs }: { zone: string; nowMs: number },
): PromoShown[] {
  return promos
    .filter(({ left, expiresAt }) => left !== '0' && Date.parse(expiresAt) > nowMs)
    .toSorted((one, other) => Date.parse(one.expiresAt) - Date.parse(other.expiresAt))
    .map(({ id, left, amount, expiresAt, reason }) => ({
      id,
      left: showMoneyDown(left),
      given: `of ${showMoney(amount)}`,
      reason,
      until: showDay(Date.parse(expiresAt), zone),
    }));
}
