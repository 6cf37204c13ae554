import type { Metadata } from 'next';
import Link from 'next/link';
import { InnerTable } from '#components/fleet/inner-table';
import { When } from '#components/fleet/when';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { readForOperator } from '#lib/console/operator';
import { showAgo, showSpan } from '#lib/console/show/time';
import { readSort, sortRows } from '#lib/console/sort';
import { type FleetOffer, showFleetHealth } from '#lib/control/operations/fleet/health';
import { showCount } from '#lib/core/show-money';

export const metadata: Metadata = { title: 'Health of offers' };

const states = {
  'set aside': { text: 'Set aside', tone: 'bad' },
  probing: { text: 'Probing', tone: 'warn' },
  'in service': { text: 'In service', tone: 'good' },
  untried: { text: 'Not tried', tone: 'neutral' },
} as const;
const columns = [
  { title: 'Offer', sort: { by: 'offer' } },
  { title: 'Breaker', place: 'state' },
  { title: 'Failing', right: true, place: 'figure', sort: { by: 'failing', descendingFirst: true } },
  { title: 'First byte', right: true, sort: { by: 'firstByte', descendingFirst: true } },
  { title: 'Running', right: true, sort: { by: 'running', descendingFirst: true } },
  { title: 'Last errors' },
] as const;

interface HealthPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function HealthPage({ searchParams }: HealthPageProps) {
  const { processes, calls, data } = await readForOperator(showFleetHealth);
  const nowMs = Date.now();
  const offers = sortRows(data, readSort([(await searchParams).sort].flat()[0]), {
    offer: ({ model, provider }) => `${model} ${provider}`,
    failing: ({ state, errorRate }) => (state === 'untried' ? null : errorRate),
    firstByte: ({ firstByteMs }) => firstByteMs,
    running: ({ running }) => running,
  });
  return (
    <>
      <PageHead help="operator-health" title="Health of offers">
        Offers that were tried or failed recently, failing ones first. The breaker sets an offer aside after 5
        failures in a row and retries it automatically.
      </PageHead>
      <Section
        title="Offers"
        note={`${processes === 1 ? '1 process' : `${processes} processes`} on this machine${calls > 0 ? `, errors from the latest ${showCount(calls)} calls` : ''}`}
      >
        <InnerTable
          label="Offers"
          columns={columns}
          none={
            processes === 0
              ? 'No process on this machine answered, and no calls have failed recently.'
              : 'No offers have been tried since the start, and no calls have failed recently.'
          }
          rows={offers.map((offer) => ({
            id: `${offer.model} ${offer.provider}`,
            cells: [
              <span key="offer" className="block min-w-40">
                <span className="block font-medium [overflow-wrap:anywhere]">{offer.model}</span>
                <span className="text-muted text-xs">{offer.provider}</span>
              </span>,
              <span key="state" className="grid justify-items-start gap-0.5">
                <Badge tone={states[offer.state].tone} dot>
                  {states[offer.state].text}
                </Badge>
                {offer.until ? (
                  <span className="text-muted text-xs">back {showAgo(Date.parse(offer.until), nowMs)}</span>
                ) : null}
              </span>,
              offer.state === 'untried' ? '–' : `${Math.round(offer.errorRate * 100)}%`,
              offer.firstByteMs === null ? '–' : showSpan(offer.firstByteMs),
              offer.running,
              <Errors key="errors" errors={offer.errors} nowMs={nowMs} />,
            ],
          }))}
        />
      </Section>
    </>
  );
}

function Errors({ errors, nowMs }: { errors: FleetOffer['errors']; nowMs: number }) {
  if (errors.length === 0) return <span className="text-muted">None</span>;
  return (
    <ul className="grid min-w-48 gap-0.5 text-xs leading-5">
      {errors.map(({ call, at, status, error }) => (
        <li key={`${call} ${status} ${error}`}>
          <Link
            href={`/operator/calls/${call}`}
            prefetch={false}
            className="font-mono underline-offset-2 hover:underline"
          >
            {status ?? 'no answer'}
          </Link>
          {error ? <span className="[overflow-wrap:anywhere]"> {error}</span> : null}
          <span className="text-muted">
            {' '}
            <When iso={at} nowMs={nowMs} />
          </span>
        </li>
      ))}
    </ul>
  );
}
