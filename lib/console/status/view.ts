import { showAgo, showDay, showMoment, showSpan } from '#lib/console/show/time';

/** As the operation returns it. */
interface Component {
  readonly id: string;
  readonly name: string;
  readonly state: StateName;
  readonly availability: number | null;
  readonly latencyMs: { readonly p50: number; readonly p95: number } | null;
  readonly days: readonly (number | null)[];
}

interface Incident {
  readonly id: string;
  readonly title: string;
  readonly impact: 'degraded' | 'outage' | 'maintenance';
  readonly affects: readonly string[];
  readonly state: string;
  readonly startedAt: string;
  readonly resolvedAt: string | null;
  readonly updates: readonly { readonly at: string; readonly state: string; readonly text: string }[];
}

interface Measured {
  readonly measuredAt: string | null;
  readonly days: readonly string[];
  readonly gateway: Component;
  readonly providers: readonly Component[];
  readonly incidents: readonly Incident[];
}

type StateName = 'operational' | 'degraded' | 'down' | 'maintenance' | 'no data';
export type StateTone = 'good' | 'warn' | 'bad' | 'info' | 'neutral';

interface ShownState {
  readonly text: string;
  readonly tone: StateTone;
}

/** One day of a component's bar. */
export interface DayBar {
  readonly day: string;
  readonly tone: StateTone;
  /** "21 Nov 2026: 99.98%". */
  readonly text: string;
}

export interface ComponentView {
  readonly id: string;
  readonly name: string;
  readonly state: ShownState;
  /** "99.98%"; null: no data yet. */
  readonly availability: string | null;
  /** Formatted: "320 ms". */
  readonly latency: { readonly p50: string; readonly p95: string } | null;
  readonly days: readonly DayBar[];
  /** The same in words, for screen readers. */
  readonly summary: string;
}

export interface IncidentView {
  readonly id: string;
  readonly title: string;
  readonly impact: ShownState;
  readonly open: boolean;
  /** "Gateway, OpenAI". */
  readonly affects: string;
  /** "22 Nov, 10:00 – 10:40 UTC". */
  readonly time: string;
  readonly updates: readonly {
    readonly at: string;
    readonly state: string;
    readonly text: string;
    readonly key: string;
  }[];
}

export interface StatusView {
  readonly head: ShownState & { readonly note: string };
  readonly gateway: ComponentView;
  readonly providers: readonly ComponentView[];
  readonly open: readonly IncidentView[];
  readonly past: readonly IncidentView[];
  /** The age of the figures; null: there are none. */
  readonly measured: string | null;
}

const states: Readonly<Record<StateName, ShownState>> = {
  operational: { text: 'Operational', tone: 'good' },
  degraded: { text: 'Degraded', tone: 'warn' },
  down: { text: 'Down', tone: 'bad' },
  maintenance: { text: 'Maintenance', tone: 'info' },
  'no data': { text: 'No data yet', tone: 'neutral' },
};

const impactTexts: Readonly<Record<Incident['impact'], ShownState>> = {
  degraded: { text: 'Degraded', tone: 'warn' },
  outage: { text: 'Outage', tone: 'bad' },
  maintenance: { text: 'Maintenance', tone: 'info' },
};

/** What the status page shows; times in UTC, because visitors may be in any zone. Pure. */
export function viewStatus(status: Measured, nowMs: number): StatusView {
  const names = new Map([status.gateway, ...status.providers].map(({ id, name }) => [id, name]));
  const incidents = status.incidents.map((one) => incidentView(one, names));
  return {
    head: headOf(status),
    gateway: componentView(status.gateway, status.days),
    providers: status.providers.map((one) => componentView(one, status.days)),
    open: incidents.filter(({ open }) => open),
    past: incidents.filter(({ open }) => !open),
    measured: status.measuredAt === null ? null : showAgo(Date.parse(status.measuredAt), nowMs),
  };
}

/** Incidents without the components, so providers are named by their ids. Pure. */
export function viewIncidents(incidents: readonly Incident[]): IncidentView[] {
  return incidents.map((one) => incidentView(one, new Map([['gateway', 'Gateway']])));
}

/** The overall state in one sentence: first the gateway's, then the providers'. */
function headOf({ gateway, providers }: Measured): StatusView['head'] {
  const troubled = providers.filter(({ state }) => state === 'degraded' || state === 'down');
  const names = troubled.map(({ name }) => name).join(', ');
  if (gateway.state === 'down')
    return { text: 'The gateway is down', tone: 'bad', note: 'Calls cannot be served.' };
  if (gateway.state === 'maintenance') {
    return { text: 'The gateway is in maintenance', tone: 'info', note: 'Some calls may be refused.' };
  }
  if (gateway.state === 'degraded') {
    return { text: 'The gateway is degraded', tone: 'warn', note: 'Some calls fail or are slow.' };
  }
  if (troubled.length > 0) {
    const text =
      troubled.length === 1 ? `${names} has problems` : `${troubled.length} providers have problems`;
    return {
      text,
      tone: 'warn',
      note: `The gateway works; calls to ${names} may fail or fall back to other providers.`,
    };
  }
  if (gateway.state === 'no data') {
    return { text: 'No data yet', tone: 'neutral', note: 'There are too few calls for a status.' };
  }
  return {
    text: 'All systems operational',
    tone: 'good',
    note: 'No known problems.',
  };
}

function componentView(
  { id, name, state, availability, latencyMs, days }: Component,
  dates: readonly string[],
): ComponentView {
  const share = availability === null ? null : showShare(availability);
  const bars = dates.map((day, at) => barOf(day, days[at] ?? null));
  const bad = bars.filter(({ tone }) => tone === 'warn' || tone === 'bad').length;
  const days90 = bad === 0 ? 'no days below 99%' : `${bad} ${bad === 1 ? 'day' : 'days'} below 99%`;
  return {
    id,
    name,
    state: states[state],
    availability: share,
    latency: latencyMs && { p50: showSpan(latencyMs.p50), p95: showSpan(latencyMs.p95) },
    days: bars,
    summary: share === null ? `${name}: no data yet` : `${name}: ${share} in ${dates.length} days, ${days90}`,
  };
}

function barOf(day: string, share: number | null): DayBar {
  const date = showDay(Date.parse(`${day}T00:00:00Z`), 'UTC');
  const text = `${date}: ${share === null ? 'no data' : showShare(share)}`;
  return {
    day,
    text,
    tone: share === null ? 'neutral' : share < 0.95 ? 'bad' : share < 0.99 ? 'warn' : 'good',
  };
}

/** Truncated, not rounded: 100% means every call. */
export function showShare(share: number): string {
  return `${(Math.floor(share * 10_000 + 1e-9) / 100).toFixed(2)}%`;
}

function incidentView(
  { id, title, impact, affects, state, startedAt, resolvedAt, updates }: Incident,
  names: ReadonlyMap<string, string>,
): IncidentView {
  const moment = (iso: string) => showMoment(Date.parse(iso), 'UTC').replace(/:\d\d$/, '');
  return {
    id,
    title,
    impact: impactTexts[impact],
    open: state !== 'resolved',
    affects: affects.map((one) => names.get(one) ?? one).join(', '),
    time: `${moment(startedAt)} – ${resolvedAt === null ? 'now' : moment(resolvedAt)} UTC`,
    updates: updates.map((one, at) => ({
      at: `${moment(one.at)} UTC`,
      state: one.state.charAt(0).toUpperCase() + one.state.slice(1),
      text: one.text,
      key: `${one.at} ${at}`,
    })),
  };
}
