import type { ReactNode } from 'react';
import { Badge } from '#components/ui/badge';
import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { OfferRow } from '#lib/console/models/facts';

/** The providers of a model. @param measured whether there are columns for how they have done. */
export function OfferTable({ offers, measured }: { offers: readonly OfferRow[]; measured: boolean }) {
  return (
    <Table label="Offers" framed={false}>
      <thead>
        <tr>
          <SortHead by="name">Provider</SortHead>
          <HeadCell>State</HeadCell>
          {[{ name: prices, sort: { by: 'price' } }, ...(measured ? measures : [])].map(({ name, sort }) => (
            <SortHead key={name} className="text-right" {...sort}>
              {name}
            </SortHead>
          ))}
        </tr>
      </thead>
      <tbody>
        {offers.map((offer) => (
          <Row key={offer.provider}>
            <Cell place="title" className="min-w-40">
              <span className="font-medium" title={offer.provider}>
                {offer.name}
              </span>
              <span className="block text-muted text-xs leading-4">{offer.families.join(', ')}</span>
              {offer.can ? (
                <span className="block text-muted text-xs leading-4">Supports {offer.can}</span>
              ) : null}
              {offer.cannot ? (
                <span className="block text-muted text-xs leading-4">No {offer.cannot}</span>
              ) : null}
            </Cell>
            <Cell place="figure">
              <State offer={offer} />
            </Cell>
            <Figure label={prices}>
              {offer.input === null && offer.output === null ? null : (
                <>
                  {offer.input ?? '–'} · {offer.output ?? '–'}
                </>
              )}
            </Figure>
            {measured
              ? measures.map(({ name, of }) => (
                  <Figure key={name} label={name} none="no data yet">
                    {offer.performance && of(offer.performance)}
                  </Figure>
                ))
              : null}
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

const prices = 'Input · output / 1M';

const measures: readonly {
  readonly name: string;
  readonly sort: { readonly by: string; readonly descendingFirst?: boolean };
  of(performance: NonNullable<OfferRow['performance']>): string | null;
}[] = [
  { name: 'Latency p50 · p95', sort: { by: 'latency' }, of: ({ latency }) => latency },
  { name: 'First byte p50 · p95', sort: { by: 'firstByte' }, of: ({ firstByte }) => firstByte },
  {
    name: 'Throughput',
    sort: { by: 'throughput', descendingFirst: true },
    of: ({ throughput }) => throughput,
  },
  {
    name: 'Uptime, calls',
    sort: { by: 'uptime', descendingFirst: true },
    of: ({ uptime, calls }) => uptime && `${uptime} of ${calls}`,
  },
];

function Figure({ label, children, none = '–' }: { label: string; children: ReactNode; none?: string }) {
  return (
    <Cell label={label} className="whitespace-nowrap text-right tabular-nums">
      {children ?? <span className="text-muted text-xs">{none}</span>}
    </Cell>
  );
}

function State({ offer: { available, availability, performance } }: { offer: OfferRow }) {
  if (available && performance && performance.state !== 'in service') {
    return (
      <Badge tone="warn" dot title="This offer failed several times in a row; calls try other offers first.">
        {performance.state === 'probing' ? 'Being retried' : 'Set aside'}
      </Badge>
    );
  }
  return (
    <Badge tone={available ? 'good' : 'outline'} dot={available} title={availability.why}>
      {availability.text}
    </Badge>
  );
}
