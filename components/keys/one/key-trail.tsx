import { Section } from '#components/section';

/** A change to a key, formatted for display. */
export interface TrailRow {
  readonly id: string;
  readonly who: string;
  /** "rotated it". */
  readonly did: string;
  /** "requests a minute: 60 → 120". */
  readonly changes: readonly string[];
  readonly time: string;
  readonly exact: string;
}

/** The changes to a key and who made them, newest first. */
export function KeyTrail({ rows }: { rows: readonly TrailRow[] }) {
  return (
    <Section title="Changes" note={rows.length > 0 ? 'Newest first' : null}>
      {rows.length === 0 ? (
        <p className="px-4 py-3 text-muted">No changes yet.</p>
      ) : (
        <ol className="divide-y">
          {rows.map((row) => (
            <li key={row.id} className="grid gap-0.5 px-4 py-2.5">
              <span className="flex justify-between gap-4">
                <span className="min-w-0 [overflow-wrap:anywhere]">
                  <span className="font-medium">{row.who}</span> {row.did}
                </span>
                <span className="shrink-0 text-muted text-xs" title={row.exact}>
                  {row.time}
                </span>
              </span>
              {row.changes.map((change) => (
                <span key={change} className="text-muted text-xs [overflow-wrap:anywhere]">
                  {change}
                </span>
              ))}
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}
