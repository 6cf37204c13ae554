import Link from 'next/link';
import { DeltaBadge } from '#components/charts/delta-badge';
import type { Delta } from '#lib/core/delta';

export interface CardFigure {
  readonly name: string;
  readonly value: string;
  readonly exact?: string | null;
  readonly delta?: Delta | null;
  readonly moreIsWorse?: boolean;
  readonly note?: string | null;
  /** The page with the details; null: none. */
  readonly href: string | null;
}

const look = '-outline-offset-2 grid content-start gap-0.5 bg-surface px-4 py-3.5';

/** Figures side by side, each with a link to its details. */
export function Cards({ label, figures }: { label: string; figures: readonly CardFigure[] }) {
  return (
    <section
      aria-label={label}
      className="grid grid-cols-2 gap-px max-sm:[&>:last-child:nth-child(odd)]:col-span-2 overflow-hidden rounded-lg border bg-line sm:flex sm:flex-wrap sm:[&>*]:flex-[1_0_9.5rem]"
    >
      {figures.map((figure) =>
        figure.href === null ? (
          <div key={figure.name} className={look} title={figure.exact ?? undefined}>
            <Figure {...figure} />
          </div>
        ) : (
          <Link
            key={figure.name}
            href={figure.href}
            prefetch={false}
            title={figure.exact ?? undefined}
            className={`${look} hover:bg-hover`}
          >
            <Figure {...figure} />
          </Link>
        ),
      )}
    </section>
  );
}

function Figure({ name, value, delta = null, moreIsWorse = false, note = null }: CardFigure) {
  return (
    <>
      <span className="text-muted text-xs">{name}</span>
      <span className="font-semibold text-lg tabular-nums tracking-tight">{value}</span>
      <span className="flex min-h-4 flex-wrap items-baseline gap-x-2">
        {note ? <span className="text-muted text-xs">{note}</span> : null}
        <DeltaBadge delta={delta} moreIsWorse={moreIsWorse} />
      </span>
    </>
  );
}
