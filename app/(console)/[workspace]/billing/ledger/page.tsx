import { Download, FileText, Receipt, SearchX } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { LedgerBar } from '#components/billing/ledger-bar';
import { LedgerTable } from '#components/billing/ledger-table';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { readLedgerAddress } from '#lib/console/billing/ledger-address';
import { kindChoices, ledgerRowOf, monthChoices } from '#lib/console/billing/ledger-rows';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { listUrl } from '#lib/console/list-url';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { showZone } from '#lib/console/show/time';
import { listLedger, listMonths } from '#lib/control/operations/ledger/operations';
import { chooseColumnsAction } from '../../../../columns-action';

export const metadata: Metadata = { title: 'Ledger' };

const rowsOfPage = 50;

interface LedgerPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/** Every line that changed the balance, by month and kind. */
export default async function LedgerPage({ params, searchParams }: LedgerPageProps) {
  const { workspace } = await requireMember((await params).workspace, 'workspace:read');
  const { slug, timeZone: zone } = workspace;
  const query = await searchParams;
  const { input, texts, faults } = readLedgerAddress(query, zone);
  const columns = [query.columns].flat()[0];
  const chosen = await readChosenColumns('ledger', query);
  const [page, months] = await Promise.all([
    readForPage(listLedger, slug, { order: 'newest', limit: rowsOfPage, ...input }),
    readForPage(listMonths, slug, {}),
  ]);
  const path = `/${slug}/billing/ledger`;
  const filters = { ...texts, columns, after: null };
  const month = texts.month ?? months.data[0] ?? '';
  return (
    <>
      <PageHead
        help="ledger"
        title="Ledger"
        action={
          <div className="flex flex-wrap gap-2">
            <ListColumnsButton table="ledger" remembered={chosen} remember={chooseColumnsAction} />
            <Link className={buttonStyle()} href={`/${slug}/billing/statement/${month}`} prefetch={false}>
              <FileText />
              Statement
            </Link>
            <a
              className={buttonStyle()}
              href={listUrl(`${path}/export`, { ...filters, columns: null, sort: null })}
              title="Every line that the filters find, the oldest first, as CSV"
              download
            >
              <Download />
              Export CSV
            </a>
          </div>
        }
      >
        Every change to the balance and its cause. Usage is added up every 15 minutes.
      </PageHead>
      <LedgerBar months={monthChoices(months.data)} kinds={kindChoices} />
      {page.data.length > 0 ? (
        <LedgerTable
          sortable
          columns={shownColumns('ledger', chosen)}
          rows={page.data.map((line) => ledgerRowOf(line, { workspace: slug, zone }))}
        />
      ) : Object.keys(texts).some((name) => name !== 'sort') ? (
        <EmptyState
          icon={<SearchX />}
          title="No matching lines"
          action={
            <Link href={path} className={buttonStyle()}>
              Clear filters
            </Link>
          }
        >
          {faults.length > 0 ? `${faults.join('; ')}.` : 'No ledger lines match these filters.'}
        </EmptyState>
      ) : (
        <EmptyState icon={<Receipt />} title="No ledger lines yet">
          Top-ups, usage and corrections appear here within seconds.
        </EmptyState>
      )}
      <PagesNav
        label="Pages of the ledger"
        first={texts.after ? listUrl(path, filters) : null}
        next={page.next ? listUrl(path, { ...filters, after: page.next }) : null}
      >
        {texts.sort ? 'Times' : 'Newest first; times'} in {showZone(zone, Date.now())}. Lines never change:
        corrections are separate lines.
      </PagesNav>
    </>
  );
}
