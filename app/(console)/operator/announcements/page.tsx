import type { Metadata } from 'next';
import { InnerTable } from '#components/fleet/inner-table';
import { PlainForm } from '#components/fleet/plain-form';
import { SureButton } from '#components/fleet/sure-button';
import { When } from '#components/fleet/when';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { formOf } from '#lib/console/form';
import { readForOperator } from '#lib/console/operator';
import { createAnnouncement, listAnnouncements } from '#lib/control/operations/announcement/operations';
import { createAnnouncementAction, endAnnouncementAction } from './actions';

export const metadata: Metadata = { title: 'Announcements' };

const states = { planned: 'Planned', shown: 'Shown', over: 'Ended' } as const;
const tones = { planned: 'info', shown: 'good', over: 'neutral' } as const;
const columns = [
  ...['Text', 'State', 'Type', 'From', 'Until'].map((title) => ({ title })),
  { title: 'Actions', silent: true },
];

export default async function AnnouncementsPage() {
  const { data } = await readForOperator(listAnnouncements, { limit: 50 });
  const nowMs = Date.now();
  return (
    <>
      <PageHead help="operator-announcements" title="Announcements">
        Announcements appear at the top of every console page until each user dismisses them.
      </PageHead>
      <Section title="New announcement">
        <PlainForm
          fields={formOf(createAnnouncement.fields)}
          long={['text']}
          verb={{ idle: 'Publish', pending: 'Publishing…' }}
          done="Announcement published"
          send={createAnnouncementAction}
        />
      </Section>
      <Section title="Announcements" note="Newest 50">
        <InnerTable
          label="Announcements"
          columns={columns}
          none="No announcements yet."
          rows={data.map(({ id, text, state, tone, from, until }) => ({
            id,
            cells: [
              <span key="text" className="block min-w-52 max-w-md leading-5 [overflow-wrap:anywhere]">
                {text}
              </span>,
              <Badge key="state" tone={tones[state]} dot>
                {states[state]}
              </Badge>,
              tone === 'warning' ? 'Warning' : 'Info',
              <When key="from" iso={from} nowMs={nowMs} />,
              until === null ? 'Until ended' : <When key="until" iso={until} nowMs={nowMs} />,
              state === 'over' ? null : (
                <SureButton
                  key="end"
                  label="End"
                  affects={`the announcement ${text.slice(0, 60)}`}
                  question={null}
                  input={{ id }}
                  done="Announcement ended"
                  act={endAnnouncementAction}
                />
              ),
            ],
          }))}
        />
      </Section>
    </>
  );
}
