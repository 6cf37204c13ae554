import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { notFound } from 'next/navigation';
import { PrintButton } from '#components/billing/print-button';
import { StatementSheet } from '#components/billing/statement-sheet';
import { buttonStyle } from '#components/ui/button';
import { statementTables } from '#lib/console/billing/statement';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { showDay, showMonth, showZoneOver } from '#lib/console/show/time';
import { monthField, monthLater } from '#lib/control/operations/ledger/month';
import { listMonths, showStatement } from '#lib/control/operations/ledger/operations';

interface StatementPageProps {
  params: Promise<{ workspace: string; month: string }>;
}

export async function generateMetadata({ params }: StatementPageProps): Promise<Metadata> {
  const { month } = await params;
  return { title: monthField.schema.safeParse(month).success ? `Statement ${month}` : 'Statement' };
}

/** The ledger of a month on one sheet, for printing. */
export default async function StatementPage({ params }: StatementPageProps) {
  const { workspace: named, month } = await params;
  const { workspace } = await requireMember(named, 'workspace:read');
  if (!monthField.schema.safeParse(month).success) notFound();
  const { slug, name } = workspace;
  const [statement, months] = await Promise.all([
    readForPage(showStatement, slug, { month }),
    readForPage(listMonths, slug, {}),
  ]);
  const day = (iso: string) => showDay(Date.parse(iso), statement.timeZone);
  const [earlier, later] = [monthLater(month, -1), monthLater(month, 1)];
  const to = (other: string, side: 'left' | 'right') =>
    months.data.includes(other) ? (
      <Link className={buttonStyle({ size: 'small' })} href={`/${slug}/billing/statement/${other}`}>
        {side === 'left' ? <ChevronLeft /> : null}
        {showMonth(other)}
        {side === 'right' ? <ChevronRight /> : null}
      </Link>
    ) : null;
  return (
    <>
      <nav aria-label="Statements" className="flex flex-wrap items-center gap-2 print:hidden">
        <Link
          href={`/${slug}/billing/ledger?month=${month}`}
          className="mr-auto text-muted text-sm hover:text-ink hover:underline"
        >
          This month’s ledger lines
        </Link>
        {to(earlier, 'left')}
        {to(later, 'right')}
        <PrintButton />
      </nav>
      <StatementSheet
        title={`Statement for ${showMonth(month)}`}
        facts={[
          name === slug ? name : `${name} (${slug})`,
          `${day(statement.from)} to ${day(new Date(Date.parse(statement.to) - 1).toISOString())}, days of ${showZoneOver(statement.timeZone, Date.parse(statement.from), Date.parse(statement.to))}`,
          'All amounts are exact, in US dollars',
        ]}
        warning={statement.over ? null : 'This month is not over, so its totals may still change.'}
        tables={statementTables(statement, `/${slug}/logs`)}
      />
    </>
  );
}
