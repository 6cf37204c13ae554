import { Section } from '#components/section';
import { ScrollRegion } from '#components/ui/scroll-region';
import type { PriceTable } from '#lib/console/models/facts';

/** All prices of each offer. */
export function PriceTables({ tables }: { tables: readonly PriceTable[] }) {
  return tables.map(({ provider, since, source, bands, rows }) => (
    <Section
      key={provider}
      title={`Prices at ${provider}`}
      note={
        <>
          In effect since {since}, from{' '}
          {source ? (
            <a href={source.href} rel="noreferrer" className="underline underline-offset-2 hover:text-ink">
              {source.host}
            </a>
          ) : (
            'the catalogue of this gateway'
          )}
          . Per million tokens unless stated otherwise.
        </>
      }
    >
      <ScrollRegion label={`Prices at ${provider}`}>
        <table className="w-full border-separate border-spacing-0 text-sm">
          <thead>
            <tr>
              <th scope="col" className="px-4 py-2 text-left font-medium text-muted text-xs">
                Class
              </th>
              {bands.map((band) => (
                <th
                  key={band}
                  scope="col"
                  className="whitespace-nowrap px-4 py-2 text-right font-medium text-muted text-xs"
                >
                  {band}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, prices }) => (
              <tr key={name}>
                <th scope="row" className="whitespace-nowrap border-t px-4 py-2 text-left font-normal">
                  {name}
                </th>
                {bands.map((band, at) => (
                  <td key={band} className="whitespace-nowrap border-t px-4 py-2 text-right tabular-nums">
                    {prices[at] ?? <span className="text-muted">—</span>}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  ));
}
