interface QuantityListProps {
  rows: readonly { readonly name: string; readonly count: string }[];
}

/** What a call used, by class. */
export function QuantityList({ rows }: QuantityListProps) {
  return (
    <dl className="divide-y">
      {rows.map((row) => (
        <div key={row.name} className="flex justify-between gap-4 px-4 py-2">
          <dt className="text-muted">{row.name}</dt>
          <dd className="font-medium tabular-nums">{row.count}</dd>
        </div>
      ))}
    </dl>
  );
}
