import type { Metadata } from 'next';
import Link from 'next/link';
import { CheckNow } from '#components/operator/price-updates/check-now';
import { ProposalList } from '#components/operator/price-updates/proposal-list';
import { SavedCheckbox } from '#components/operator/price-updates/saved-checkbox';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { leftOutLines, proposalGroups, tableRow } from '#lib/console/gateway/proposals';
import { readForOperator } from '#lib/console/operator';
import { listProposals } from '#lib/control/operations/catalogue/update';
import { acceptAction, dailyAction, dismissAction, updatePricesAction } from './actions';

export const metadata: Metadata = { title: 'Price updates' };

interface PriceUpdatesPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function PriceUpdatesPage({ searchParams }: PriceUpdatesPageProps) {
  const dismissed = (await searchParams).dismissed === 'on';
  const shown = await readForOperator(listProposals, { dismissed });
  const nowMs = Date.now();
  const tables = shown.tables.map((table) => tableRow(table, nowMs));
  const daily = shown.tables.some((table) => table.daily);
  const read = shown.tables.some(({ readAt }) => readAt !== null);
  const leftOut = leftOutLines(shown);
  return (
    <>
      <PageHead
        help="operator-price-updates"
        title="Price updates"
        action={<CheckNow update={updatePricesAction} />}
      >
        Public price tables, compared with the catalogue. Nothing changes until you accept it; past calls keep
        their prices.
      </PageHead>
      <Section title="Price tables">
        <ul className="divide-y">
          {tables.map(({ name, tone, state, note, unknown }) => (
            <li key={name} className="grid gap-1.5 px-4 py-3">
              <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
                <span className="font-medium">{name}</span>
                <Badge tone={tone} dot>
                  {state}
                </Badge>
              </p>
              <p className="text-muted leading-5 [overflow-wrap:anywhere]">{note}</p>
              {unknown.length > 0 ? (
                <details className="text-[0.8125rem]">
                  <summary className="cursor-pointer rounded-md">
                    {unknown.length === 1 ? '1 unknown field' : `${unknown.length} unknown fields`}
                  </summary>
                  <ul className="grid gap-0.5 pt-1.5 text-muted text-xs leading-5 [overflow-wrap:anywhere]">
                    {unknown.map((line) => (
                      <li key={line}>{line}</li>
                    ))}
                  </ul>
                </details>
              ) : null}
            </li>
          ))}
          <li className="px-2 py-1.5">
            <SavedCheckbox label="Check every day" checked={daily} field="daily" send={dailyAction} />
          </li>
        </ul>
      </Section>
      {shown.data.length === 0 ? (
        <Section title={dismissed ? 'Dismissed proposals' : 'Proposals'}>
          <p className="px-4 py-4 text-muted leading-5">
            {dismissed
              ? 'No proposals are dismissed.'
              : read
                ? 'The catalogue agrees with the price tables.'
                : 'No price table was read yet.'}
          </p>
        </Section>
      ) : (
        <ProposalList
          groups={proposalGroups(shown.data)}
          dismissed={dismissed}
          accept={acceptAction}
          dismiss={dismissAction}
        />
      )}
      <div className="grid gap-1.5 text-muted text-xs leading-5 [overflow-wrap:anywhere]">
        {shown.total > shown.data.length ? (
          <p>
            {shown.data.length} of {shown.total} proposals are shown; accept or dismiss some to see the
            others.
          </p>
        ) : null}
        {shown.standing.length > 0 ? (
          <p>New models are accepted without asking: {shown.standing.join(', ')}.</p>
        ) : null}
        {leftOut.map((line) => (
          <p key={line}>{line}</p>
        ))}
        {dismissed ? (
          <p>
            <Link href="/operator/price-updates" prefetch={false} className="rounded-md underline">
              Current proposals
            </Link>
          </p>
        ) : shown.dismissed > 0 ? (
          <p>
            <Link
              href="/operator/price-updates?dismissed=on"
              prefetch={false}
              className="rounded-md underline"
            >
              {shown.dismissed === 1 ? '1 dismissed proposal' : `${shown.dismissed} dismissed proposals`}
            </Link>
          </p>
        ) : null}
      </div>
    </>
  );
}
