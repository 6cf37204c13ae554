import type { PromoShown } from '#lib/console/billing/promos';

/** Active promo credits: how much of each remains, and until when. */
export function PromoList({ promos }: { promos: readonly PromoShown[] }) {
  if (promos.length === 0) return null;
  return (
    <div className="grid gap-1.5 border-t pt-3">
      <p className="text-muted text-xs leading-4">Promo credit in the balance, spent first</p>
      <ul className="grid gap-1.5">
        {promos.map(({ id, left, given, until, reason }) => (
          <li key={id} className="flex flex-wrap items-baseline justify-between gap-x-3">
            <span className="tabular-nums" title={given}>
              {left} <span className="text-muted text-xs [overflow-wrap:anywhere]">{reason}</span>
            </span>
            <span className="text-muted text-xs">expires {until}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
