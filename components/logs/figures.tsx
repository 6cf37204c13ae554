export interface Figure {
  readonly name: string;
  readonly value: string;
  /** Detail under the value. */
  readonly note?: string | undefined;
  /** The exact value, on hover. */
  readonly exact?: string | undefined;
}

/** The figures of a call in a strip. */
export function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-line sm:grid-cols-3 xl:grid-cols-6">
      {figures.map((figure) => (
        <div key={figure.name} className="bg-surface px-4 py-3">
          <dt className="text-muted text-xs">{figure.name}</dt>
          <dd className="mt-1 font-semibold text-base tabular-nums tracking-tight" title={figure.exact}>
            {figure.value}
            {figure.note ? (
              <span className="block font-normal text-muted text-xs tracking-normal">{figure.note}</span>
            ) : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}
