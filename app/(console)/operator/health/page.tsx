import type { Metadata } from 'next';
import Link from 'next/link';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { figureColumn, type ListColumns, ListTable } from '#components/columns/list-table';
import { When } from '#components/fleet/when';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { readForOperator } from '#lib/console/operator';
import { showAgo, showSpan } from '#lib/console/show/time';
import { readSort, sortRows } from '#lib/console/sort';
import { type FleetOffer, showFleetHealth } from '#lib/control/operations/fleet/health';
import { showCount } from '#lib/core/show-money';
import { chooseColumnsAction } from '../../../columns-action';

export const metadata: Metadata = { title: 'Health of offers' };

const states = {
  'set aside': { text: 'Set aside', tone: 'bad' },
  probing: { text: 'Probing', tone: 'warn' },
  'in service': { text: 'In service', tone: 'good' },
  untried: { text: 'Not tried', tone: 'neutral' },
} as const;
type Offer = FleetOffer & { readonly id: string };

const looksAt = (nowMs: number): ListColumns<Offer, 'health'> => ({
  fixed: {
    sort: { by: 'offer' },
    place: 'title',
    className: 'min-w-40',
    show: (offer) => (
      <>
        <span className="block font-medium [overflow-wrap:anywhere]">{offer.model}</span>
        <span className="text-muted text-xs">{offer.provider}</span>
      </>
    ),
  },
  breaker: {
    place: 'state',
    show: (offer) => (
      <span className="grid justify-items-start gap-0.5">
        <Badge tone={states[offer.state].tone} dot>
          {states[offer.state].text}
        </Badge>
        {offer.until ? (
          <span className="text-muted text-xs">back {showAgo(Date.parse(offer.until), nowMs)}</span>
        ) : null}
      </span>
    ),
  },
  failing: {
    ...figureColumn,
    sort: { by: 'failing', descendingFirst: true },
    place: 'figure',
    show: (offer) => (offer.state === 'untried' ? '–' : `${Math.round(offer.errorRate * 100)}%`),
  },
  firstByte: {
    ...figureColumn,
    sort: { by: 'firstByte', descendingFirst: true },
    show: ({ firstByteMs }) => (firstByteMs === null ? '–' : showSpan(firstByteMs)),
  },
  running: {
    ...figureColumn,
    sort: { by: 'running', descendingFirst: true },
    show: ({ running }) => running,
  },
  errors: { show: ({ errors }) => <Errors errors={errors} nowMs={nowMs} /> },
});

interface HealthPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function HealthPage({ searchParams }: HealthPageProps) {
  const { processes, calls, data } = await readForOperator(showFleetHealth);
  const query = await searchParams;
  const chosen = await readChosenColumns('health', query);
  const offers = sortRows(data, readSort([query.sort].flat()[0]), {
    offer: ({ model, provider }) => `${model} ${provider}`,
    failing: ({ state, errorRate }) => (state === 'untried' ? null : errorRate),
    firstByte: ({ firstByteMs }) => firstByteMs,
    running: ({ running }) => running,
  });
  return (
    <>
      <PageHead
        help="operator-health"
        title="Health of offers"
        action={<ListColumnsButton table="health" remembered={chosen} remember={chooseColumnsAction} />}
      >
        Offers that were tried or failed recently, failing ones first. The breaker sets an offer aside after 5
        failures in a row and retries it automatically.
      </PageHead>
      <Section
        title="Offers"
        note={`${processes === 1 ? '1 process' : `${processes} processes`} on this machine${calls > 0 ? `, errors from the latest ${showCount(calls)} calls` : ''}`}
      >
        {offers.length === 0 ? (
          <p className="px-4 py-4 text-muted">
            {processes === 0
              ? 'No process on this machine answered, and no calls have failed recently.'
              : 'No offers have been tried since the start, and no calls have failed recently.'}
          </p>
        ) : (
          <ListTable
            label="Offers"
            table="health"
            looks={looksAt(Date.now())}
            columns={shownColumns('health', chosen)}
            rows={offers.map((offer) => ({ ...offer, id: `${offer.model} ${offer.provider}` }))}
            framed={false}
          />
        )}
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
