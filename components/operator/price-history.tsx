import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { ScrollRegion } from '#components/ui/scroll-region';
import type { PriceVersionRow } from '#lib/console/gateway/price-version';

const cell = 'border-t px-3 py-2 first:pl-4 last:pr-4';
const head = 'whitespace-nowrap px-3 py-2 text-left font-medium text-muted text-xs first:pl-4 last:pr-4';

/** The prices of an offer with the time in which each was in force. */
export function PriceHistory({
  provider,
  versions,
}: {
  provider: string;
  versions: readonly PriceVersionRow[];
}) {
  const source = versions[0]?.source ?? null;
  return (
    <Section
      title={`Prices at ${provider}`}
      note={
        source ? (
          <>
            Published at{' '}
            <a href={source.href} rel="noreferrer" className="underline underline-offset-2 hover:text-ink">
              {source.host}
            </a>
            . Times in UTC.
          </>
        ) : (
          'The catalogue names no page to compare with. Times in UTC.'
        )
      }
    >
      <ScrollRegion label={`Price versions at ${provider}`}>
        <table className="w-full border-separate border-spacing-0 text-sm">
          <thead>
            <tr>
              <th scope="col" className={head}>
                USD per million
              </th>
              <th scope="col" className={head}>
                From
              </th>
              <th scope="col" className={head}>
                Until
              </th>
            </tr>
          </thead>
          <tbody>
            {versions.map(({ id, text, since, until, withdrawn }) => (
              <tr key={id} title={`Price version ${id}`}>
                <td className={`${cell} min-w-56 [overflow-wrap:anywhere]`}>{text}</td>
                <td className={`${cell} whitespace-nowrap tabular-nums`}>{since}</td>
                <td className={`${cell} whitespace-nowrap tabular-nums`}>
                  {until ?? (
                    <Badge tone={withdrawn ? 'outline' : 'good'} dot={!withdrawn}>
                      {withdrawn ? 'Offer withdrawn' : 'In force'}
                    </Badge>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}
