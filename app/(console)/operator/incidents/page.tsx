import type { Metadata } from 'next';
import Link from 'next/link';
import { PlainForm } from '#components/fleet/plain-form';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { IncidentList } from '#components/status/incident-list';
import { buttonStyle } from '#components/ui/button';
import { getConsoleHost } from '#lib/console/db';
import { formOf } from '#lib/console/form';
import { readForOperator } from '#lib/console/operator';
import { viewIncidents } from '#lib/console/status/view';
import {
  createIncident,
  listIncidents,
  resolveIncident,
  stateOfIncident,
  updateIncident,
} from '#lib/control/operations/incident/operations';
import { etagOf } from '#lib/control/operations/state';
import { createIncidentAction, resolveIncidentAction, updateIncidentAction } from './actions';

export const metadata: Metadata = { title: 'Incidents' };

const { startedAt: _, ...opening } = createIncident.fields;
const { id: _of, ...updating } = updateIncident.fields;

export default async function IncidentsPage() {
  const { data } = await readForOperator(listIncidents, { limit: 50 });
  const open = data.filter(({ state }) => state !== 'resolved');
  const past = data.filter(({ state }) => state === 'resolved');
  const shown = getConsoleHost().env.statusPage !== false;
  return (
    <>
      <PageHead
        help="operator-incidents"
        title="Incidents"
        action={
          shown ? (
            <Link href="/status" prefetch={false} className={buttonStyle()}>
              Open the status page
            </Link>
          ) : null
        }
      >
        {shown
          ? 'Incidents appear on the public status page.'
          : 'The status page is off (STATUS_PAGE), so only operators see incidents.'}
      </PageHead>
      {open.map((incident) => (
        <Section key={incident.id} title={incident.title} note={`Open, ${incident.state}`}>
          <IncidentList incidents={viewIncidents([incident])} />
          <div className="grid border-t lg:grid-cols-2 lg:divide-x">
            <PlainForm
              fields={formOf(updating)}
              long={['text']}
              besides={{ id: incident.id }}
              seen={etagOf(stateOfIncident(incident))}
              verb={{ idle: 'Add update', pending: 'Adding…' }}
              done="Update published"
              send={updateIncidentAction}
            />
            <PlainForm
              fields={formOf({ text: resolveIncident.fields.text })}
              long={['text']}
              besides={{ id: incident.id }}
              seen={etagOf(stateOfIncident(incident))}
              verb={{ idle: 'Resolve', pending: 'Resolving…' }}
              done="Incident resolved"
              send={resolveIncidentAction}
            />
          </div>
        </Section>
      ))}
      <Section title="New incident">
        <PlainForm
          fields={formOf(opening)}
          long={['text']}
          initial={{ affects: 'gateway' }}
          verb={{ idle: 'Open incident', pending: 'Opening…' }}
          done="Incident published"
          send={createIncidentAction}
        />
      </Section>
      <Section title="Past incidents" note="Newest 50">
        {past.length > 0 ? (
          <IncidentList incidents={viewIncidents(past)} />
        ) : (
          <p className="px-4 py-4 text-muted">No past incidents.</p>
        )}
      </Section>
    </>
  );
}
