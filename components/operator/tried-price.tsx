import { type TriedPrice, triedPriceOf } from '#lib/console/gateway/price-effect';

const tones = { more: 'text-warn', less: 'text-good', same: 'text-muted' };

/** What last week's calls would have cost with another price. */
export function TriedPriceFigures({ effect }: { effect: TriedPrice }) {
  const { calls, charged, preview, difference, direction, note } = triedPriceOf(effect);
  const figures = [
    ['Calls in 7 days', calls, ''],
    ['Charged', charged, ''],
    ['With this price', preview, ''],
    ['Difference', difference, tones[direction]],
  ] as const;
  return (
    <div className="grid gap-2">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-4">
        {figures.map(([label, value, tone]) => (
          <div key={label} className="min-w-0">
            <dt className="text-muted text-xs">{label}</dt>
            <dd className={`font-medium tabular-nums [overflow-wrap:anywhere] ${tone}`}>{value}</dd>
          </div>
        ))}
      </dl>
      {note ? <p className="text-muted text-xs leading-4">{note}</p> : null}
    </div>
  );
}
