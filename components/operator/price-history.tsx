import { SureButton } from '#components/fleet/sure-button';
import type { FormAnswer } from '#components/form/answer';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { PriceVersionRow } from '#lib/console/gateway/price-version';

interface PriceHistoryProps {
  provider: string;
  versions: readonly PriceVersionRow[];
  withdraw(workspace: string, input: object): Promise<FormAnswer<unknown>>;
}

/** The prices of an offer and when each was in force, including scheduled ones. */
export function PriceHistory({ provider, versions, withdraw }: PriceHistoryProps) {
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
          'The catalogue names no source for this price. Times in UTC.'
        )
      }
    >
      <Table label={`Price versions at ${provider}`} framed={false}>
        <thead>
          <tr>
            <HeadCell>Price, tokens per million</HeadCell>
            <HeadCell>From</HeadCell>
            <HeadCell>Until</HeadCell>
          </tr>
        </thead>
        <tbody>
          {versions.map(({ id, text, since, until, state, withdrawn }) => (
            <Row key={id} title={`Price version ${id}`}>
              <Cell className="min-w-56 [overflow-wrap:anywhere]">{text}</Cell>
              <Cell label="From" className="whitespace-nowrap tabular-nums">
                {since}
              </Cell>
              <Cell label="Until" className="tabular-nums">
                <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5 max-sm:justify-end">
                  {until ? <span className="whitespace-nowrap">{until}</span> : null}
                  {withdrawn && until === null ? <Badge tone="outline">Offer withdrawn</Badge> : null}
                  {state === 'in force' && !withdrawn ? (
                    <Badge tone="good" dot>
                      In effect
                    </Badge>
                  ) : null}
                  {state === 'scheduled' ? (
                    <>
                      <Badge tone="outline">Scheduled</Badge>
                      <SureButton
                        label="Withdraw"
                        affects={`the price from ${since}`}
                        question="Keep the previous price?"
                        input={{ id }}
                        done="Price withdrawn"
                        act={withdraw}
                      />
                    </>
                  ) : null}
                </span>
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
    </Section>
  );
}
