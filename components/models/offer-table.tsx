import type { ReactNode } from 'react';
import { Badge } from '#components/ui/badge';
import { ScrollRegion } from '#components/ui/scroll-region';
import type { OfferRow } from '#lib/console/models/facts';

const cell = 'border-t px-3 py-2.5 first:pl-4 last:pr-4';
const head = 'whitespace-nowrap px-3 py-2 text-left font-medium text-muted text-xs first:pl-4 last:pr-4';

/** The providers of a model. @param measured whether to show columns with their measured figures. */
export function OfferTable({ offers, measured }: { offers: readonly OfferRow[]; measured: boolean }) {
  return (
    <ScrollRegion label="Offers">
      <table className="w-full border-separate border-spacing-0 text-sm">
        <thead>
          <tr>
            <th scope="col" className={head}>
              Provider
            </th>
            <th scope="col" className={head}>
              State
            </th>
            {['Input · output / 1M', ...(measured ? measures.map(({ name }) => name) : [])].map((name) => (
              <th key={name} scope="col" className={`${head} text-right`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {offers.map((offer) => (
            <tr key={offer.provider}>
              <td className={`${cell} min-w-40`}>
                <span className="font-medium" title={offer.provider}>
                  {offer.name}
                </span>
                <span className="block text-muted text-xs leading-4">{offer.families.join(', ')}</span>
              </td>
              <td className={cell}>
                <State offer={offer} />
              </td>
              <Figure>
                {offer.input === null && offer.output === null ? null : (
                  <>
                    {offer.input ?? '—'} · {offer.output ?? '—'}
                  </>
                )}
              </Figure>
              {measured
                ? measures.map(({ name, of }) => (
                    <Figure key={name} none="no data yet">
                      {offer.performance && of(offer.performance)}
                    </Figure>
                  ))
                : null}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

const measures: readonly {
  readonly name: string;
  of(performance: NonNullable<OfferRow['performance']>): string | null;
}[] = [
  { name: 'Latency p50 · p95', of: ({ latency }) => latency },
  { name: 'First byte p50 · p95', of: ({ firstByte }) => firstByte },
  { name: 'Throughput', of: ({ throughput }) => throughput },
  { name: 'Uptime, calls', of: ({ uptime, calls }) => uptime && `${uptime} of ${calls}` },
];

function Figure({ children, none = '—' }: { children: ReactNode; none?: string }) {
  return (
    <td className={`${cell} whitespace-nowrap text-right tabular-nums`}>
      {children ?? <span className="text-muted text-xs">{none}</span>}
    </td>
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
