import { CircleAlert, CircleCheck, CircleHelp, Wrench } from 'lucide-react';
import type { Metadata } from 'next';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { ComponentRow } from '#components/status/component-row';
import { IncidentList } from '#components/status/incident-list';
import { classNames } from '#components/ui/class-names';
import { findUser } from '#lib/console/session';
import { readStatus } from '#lib/console/status/read';
import { type StateTone, viewStatus } from '#lib/console/status/view';

export const metadata: Metadata = {
  title: 'Status',
  description: 'Availability of this gateway and its providers in the last 90 days.',
};

const grounds: Readonly<Record<StateTone, string>> = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  info: 'bg-info-soft text-info',
  neutral: 'bg-hover text-ink',
};

const icons = { good: CircleCheck, warn: CircleAlert, bad: CircleAlert, info: Wrench, neutral: CircleHelp };

export default async function StatusPage() {
  const nowMs = Date.now();
  const status = await readStatus(nowMs, (await findUser())?.operator);
  const { head, gateway, providers, open, past, measured } = viewStatus(status, nowMs);
  const Icon = icons[head.tone];
  return (
    <div className="mx-auto grid w-full max-w-4xl gap-6">
      <PageHead title="Status">Availability of this gateway and its providers in the last 90 days.</PageHead>
      <div
        role="status"
        className={classNames(
          'flex items-start gap-3 rounded-lg px-4 py-3.5 [overflow-wrap:anywhere]',
          grounds[head.tone],
        )}
      >
        <Icon aria-hidden className="mt-0.5 size-5 shrink-0" />
        <div className="grid gap-0.5">
          <p className="font-semibold">{head.text}</p>
          <p className="leading-5">{head.note}</p>
        </div>
      </div>
      {open.length > 0 ? (
        <Section title="Open incidents">
          <IncidentList incidents={open} />
        </Section>
      ) : null}
      <Section title="Gateway and providers">
        <ul className="grid divide-y">
          <ComponentRow component={gateway} latency="Added latency" />
          {providers.map((one) => (
            <ComponentRow key={one.id} component={one} latency="First byte" />
          ))}
        </ul>
      </Section>
      <Section title="Past incidents" note="90 days">
        {past.length > 0 ? (
          <IncidentList incidents={past} />
        ) : (
          <p className="px-4 py-4 text-muted">No incidents reported.</p>
        )}
      </Section>
      <p className="max-w-3xl text-muted text-xs leading-5">
        {measured === null ? 'The first measurement is in progress. ' : `Measured ${measured}. `}
        Availability is the share of calls that did not fail because of the gateway or the provider, by UTC
        day. If another provider took over a call, it counts for the provider that answered. No figure is
        shown for days with fewer than 20 calls or for fewer than 100 calls in total.
      </p>
    </div>
  );
}
