import { UptimeBar } from '#components/status/uptime-bar';
import { Badge } from '#components/ui/badge';
import type { ComponentView } from '#lib/console/status/view';

/** The gateway or a provider: its name, state, daily history, availability and latency. */
export function ComponentRow({ component, latency }: { component: ComponentView; latency: string }) {
  const { name, state, availability, latency: took, days, summary } = component;
  return (
    <li className="grid gap-2.5 px-4 py-4">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <h3 className="min-w-0 font-medium [overflow-wrap:anywhere]">{name}</h3>
        <Badge tone={state.tone} dot>
          {state.text}
        </Badge>
      </div>
      <UptimeBar days={days} summary={summary} />
      <dl className="flex flex-wrap gap-x-6 gap-y-1 text-muted text-xs tabular-nums">
        <div className="flex gap-1.5">
          <dt>Availability</dt>
          <dd className="text-ink">{availability ?? 'no data yet'}</dd>
        </div>
        {took ? (
          <div className="flex gap-1.5">
            <dt>{latency}</dt>
            <dd className="text-ink">
              {took.p50} median, {took.p95} p95
            </dd>
          </div>
        ) : null}
      </dl>
    </li>
  );
}
