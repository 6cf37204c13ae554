/** A day's spend, formatted for display. */
export interface SpendDay {
  readonly day: string;
  readonly cost: string;
  readonly calls: string;
  /** Share of the most expensive day, 0 to 1. */
  readonly part: number;
  /** URL of that day's log. */
  readonly href: string;
}

const height = 56;

/** Spend by day as small bars, with the same figures in a table for screen readers. */
export function SpendBars({ days }: { days: readonly SpendDay[] }) {
  const step = 100 / Math.max(1, days.length);
  return (
    <div className="px-4 py-3">
      <svg
        aria-hidden
        viewBox={`0 0 100 ${height}`}
        preserveAspectRatio="none"
        className="block h-14 w-full border-b"
      >
        {days.map(({ day, cost, calls, part, href }, at) => (
          <a key={day} href={href} tabIndex={-1}>
            <title>{`${day}: ${cost}, ${calls}`}</title>
            <rect x={at * step} width={step} height={height} className="fill-transparent hover:fill-hover" />
            <rect
              x={at * step + step * 0.15}
              width={step * 0.7}
              y={height - part * (height - 4)}
              height={part * (height - 4)}
              className="pointer-events-none fill-accent"
            />
          </a>
        ))}
      </svg>
      <p aria-hidden className="mt-1 flex justify-between text-muted text-xs">
        <span>{days[0]?.day}</span>
        <span>{days.at(-1)?.day}</span>
      </p>
      <table className="sr-only">
        <caption>Spend by day</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Spend</th>
            <th scope="col">Calls</th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ day, cost, calls }) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              <td>{cost}</td>
              <td>{calls}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
