import { showDay } from '#lib/console/show/time';
import type { ShownPriceVersion } from '#lib/control/operations/price/operations';

/** A current, former or future price of an offer, formatted. */
export interface PriceVersionRow {
  readonly id: string;
  readonly text: string;
  readonly since: string;
  /** null: no later price follows. */
  readonly until: string | null;
  readonly state: ShownPriceVersion['state'];
  readonly withdrawn: boolean;
  readonly source: { readonly href: string; readonly host: string } | null;
}

export function priceVersionRowOf(version: ShownPriceVersion): PriceVersionRow {
  const { id, text, effectiveAt, until, state, withdrawn, source } = version;
  return {
    id,
    text,
    state,
    withdrawn,
    since: momentOf(effectiveAt),
    until: until === null ? null : momentOf(until),
    source: source === null ? null : { href: source, host: new URL(source).host },
  };
}

/** In UTC, because operators compare it with logs and price pages from anywhere. */
function momentOf(iso: string): string {
  return `${showDay(Date.parse(iso), 'UTC')}, ${iso.slice(11, 16)}`;
}
