import { Badge } from '#components/ui/badge';
import type { IncidentView } from '#lib/console/status/view';

/** Incidents with their updates, newest first. */
export function IncidentList({ incidents }: { incidents: readonly IncidentView[] }) {
  return (
    <ul className="grid divide-y">
      {incidents.map(({ id, title, impact, open, affects, time, updates }) => (
        <li key={id} className="grid gap-2 px-4 py-4">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h3 className="min-w-0 font-medium [overflow-wrap:anywhere]">{title}</h3>
            <Badge tone={open ? impact.tone : 'neutral'} dot={open}>
              {open ? impact.text : 'Resolved'}
            </Badge>
          </div>
          <p className="text-muted text-xs [overflow-wrap:anywhere]">
            {affects} · <span className="tabular-nums">{time}</span>
          </p>
          <ol className="grid gap-1.5 border-l pl-4">
            {updates.map(({ key, at, state, text }) => (
              <li key={key} className="max-w-3xl leading-5 [overflow-wrap:anywhere]">
                <span className="font-medium">{state}</span>
                <span className="text-muted"> · {at}</span>
                <br />
                {text}
              </li>
            ))}
          </ol>
        </li>
      ))}
    </ul>
  );
}
