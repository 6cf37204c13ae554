import { SureButton } from '#components/fleet/sure-button';
import type { FormAnswer } from '#components/form/answer';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { ScrollRegion } from '#components/ui/scroll-region';
import type { PriceVersionRow } from '#lib/console/gateway/price-version';

const cell = 'border-t px-3 py-2 first:pl-4 last:pr-4';
const head = 'whitespace-nowrap px-3 py-2 text-left font-medium text-muted text-xs first:pl-4 last:pr-4';

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
            {versions.map(({ id, text, since, until, state, withdrawn }) => (
              <tr key={id} title={`Price version ${id}`}>
                <td className={`${cell} min-w-56 [overflow-wrap:anywhere]`}>{text}</td>
                <td className={`${cell} whitespace-nowrap tabular-nums`}>{since}</td>
                <td className={`${cell} tabular-nums`}>
                  <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
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
                          spoken={`Withdraw the price from ${since}`}
                          question="Keep the previous price?"
                          input={{ id }}
                          done="Price withdrawn"
                          act={withdraw}
                        />
                      </>
                    ) : null}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}
