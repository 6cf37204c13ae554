import { History, SearchX } from 'lucide-react';
import type { Metadata } from 'next';
import { AuditFilters } from '#components/audit/audit-filters';
import { AuditTable } from '#components/audit/audit-table';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { listUrl, readListUrl } from '#lib/console/list-url';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { showZone } from '#lib/console/show/time';
import { auditRowOf } from '#lib/console/team/audit-rows';
import { fieldsOf } from '#lib/control/operations/field/paging';
import { operations } from '#lib/control/operations/operations';
import { listActors } from '#lib/control/operations/trail/actors';
import { auditFilters, listAudit } from '#lib/control/operations/trail/operations';
import { chooseColumnsAction } from '../../../columns-action';

export const metadata: Metadata = { title: 'Audit log' };

const actions = operations
  .filter(({ kind, reach }) => kind !== 'read' && reach !== 'gateway')
  .map(({ name }) => name)
  .sort();

interface AuditPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function AuditPage({ params, searchParams }: AuditPageProps) {
  const { workspace } = await requireMember((await params).workspace, 'workspace:read');
  const { slug, timeZone } = workspace;
  const query = await searchParams;
  const { texts, input, faults } = readListUrl(fieldsOf(auditFilters), query, timeZone);
  const [after, sort] = [[query.after].flat()[0], [query.sort].flat()[0]];
  const order = sort === 'at' ? 'oldest' : 'newest';
  const sorted = sort === undefined ? texts : { ...texts, sort };
  const shown = { ...sorted, columns: [query.columns].flat()[0] };
  const [page, actors, chosen] = await Promise.all([
    readForPage(listAudit, slug, { ...input, order, after, limit: 50 }),
    readForPage(listActors, slug, {}),
    readChosenColumns('audit', query),
  ]);
  const nowMs = Date.now();
  const names = new Map(actors.data.map(({ actor, name }) => [actor, name]));
  const rows = page.data.map((row) => auditRowOf(row, { timeZone, nowMs, actors: names }));
  const here = `/${slug}/audit`;
  return (
    <>
      <PageHead
        help="audit"
        title="Audit log"
        action={
          <div className="flex flex-wrap gap-2">
            <ListColumnsButton table="audit" remembered={chosen} remember={chooseColumnsAction} />
            <a href={listUrl(`${here}/csv`, texts)} className={buttonStyle()} download>
              Export CSV
            </a>
          </div>
        }
      >
        Every change in this workspace: who made it, what changed and where from. Entries cannot be edited or
        deleted.
      </PageHead>
      <div className="grid min-w-0 gap-3">
        <AuditFilters
          key={JSON.stringify(sorted)}
          path={here}
          texts={sorted}
          actions={actions}
          actors={actors.data}
          zone={showZone(timeZone, nowMs)}
        />
        {faults.map((fault) => (
          <p key={fault} role="alert" className="text-bad leading-5">
            {fault}
          </p>
        ))}
        {rows.length > 0 ? (
          <AuditTable rows={rows} columns={shownColumns('audit', chosen)} />
        ) : Object.keys(texts).length > 0 ? (
          <EmptyState icon={<SearchX />} title="No matching entries">
            Widen the range or clear the filters.
          </EmptyState>
        ) : (
          <EmptyState icon={<History />} title="No changes yet">
            Changes to keys, routing, members and settings appear here as they are made.
          </EmptyState>
        )}
        <PagesNav
          label="Pages of the audit log"
          first={after ? listUrl(here, shown) : null}
          next={page.next ? listUrl(here, { ...shown, after: page.next }) : null}
        >
          Times in {showZone(timeZone, nowMs)}. Also available from the API at{' '}
          <code>/api/v1/workspaces/{slug}/audit</code>.
        </PagesNav>
      </div>
    </>
  );
}
