import { Section } from '#components/section';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
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
      <Table label={`Prices at ${provider}`} framed={false} matrix>
        <thead>
          <tr>
            <HeadCell>Class</HeadCell>
            {bands.map((band) => (
              <HeadCell key={band} className="text-right">
                {band}
              </HeadCell>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, prices }) => (
            <Row key={name}>
              <th
                scope="row"
                className="whitespace-nowrap border-b px-4 py-2 text-left font-normal group-last/row:border-b-0"
              >
                {name}
              </th>
              {bands.map((band, at) => (
                <Cell key={band} className="whitespace-nowrap py-2 text-right tabular-nums">
                  {prices[at] ?? <span className="text-muted">–</span>}
                </Cell>
              ))}
            </Row>
          ))}
        </tbody>
      </Table>
    </Section>
  ));
}
