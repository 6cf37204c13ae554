import { KeyRound, SearchX } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import type { SearchParams } from 'nuqs/server';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { BulkBar } from '#components/keys/bulk/bulk-bar';
import { KeySelection } from '#components/keys/bulk/selection';
import { CreateKeyButton, KeyCreation } from '#components/keys/create-key';
import { KeyFilterBar } from '#components/keys/key-filter-bar';
import type { KeyRow } from '#components/keys/key-row';
import { KeyTable } from '#components/keys/key-table';
import { envSnippet } from '#components/keys/snippets';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { buttonStyle } from '#components/ui/button';
import { CodeBlock } from '#components/ui/code-block';
import { EmptyState } from '#components/ui/empty-state';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { keyUrl, loadKeyFilters, withoutSecret } from '#lib/console/key-filters';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { keyRowOf } from '#lib/console/show/key/rows';
import { showZone } from '#lib/console/show/time';
import { listKeyMakers, listKeys } from '#lib/control/operations/key/operations';
import { may } from '#lib/core/role';
import { chooseColumnsAction } from '../../../columns-action';
import { KeyPage, readSnippetFacts } from './key-page';

export const metadata: Metadata = { title: 'API keys' };

const pageSize = 50;

/** Revoked keys are final. */
const selectable = ({ id, name, revoked }: KeyRow) => (revoked ? [] : [{ id, name }]);

interface KeysPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function KeysPage({ params, searchParams }: KeysPageProps) {
  const member = await requireMember((await params).workspace, 'keys:read');
  const { workspace } = member;
  const filters = await loadKeyFilters(searchParams);
  const search = withoutSecret(filters.q ?? '');
  const { q: _, columns: __, ...asked } = filters;
  const [{ data: keys, next }, { data: makers }, snippets, chosen] = await Promise.all([
    readForPage(listKeys, workspace.slug, { ...asked, search, limit: pageSize }),
    readForPage(listKeyMakers, workspace.slug, {}),
    readSnippetFacts(workspace.slug),
    readChosenColumns('keys', await searchParams),
  ]);
  const nowMs = Date.now();
  const place = { workspace: workspace.slug, timeZone: workspace.timeZone, nowMs };
  const here = `/${workspace.slug}/keys`;
  const narrowed = Object.entries(filters).some(
    ([name, value]) => name !== 'sort' && name !== 'columns' && value !== null,
  );
  const rows = keys.map((key) => keyRowOf(key, place));
  const mayChange = may(member.role, 'keys:write');
  const none = keys.length === 0 && !narrowed;
  return (
    <KeyPage member={member} {...snippets}>
      <KeyCreation>
        <PageHead help="keys" title="API keys" action={none ? null : <CreateKeyButton />}>
          Your servers use these keys to call the gateway. Changes apply within 2 seconds.
        </PageHead>
        {none ? (
          <EmptyState
            icon={<KeyRound />}
            title="No keys yet"
            action={
              <>
                <CreateKeyButton />
                <div className="mt-3 w-full max-w-md">
                  <CodeBlock code={envSnippet('your key', snippets.facts)} what=".env lines" />
                </div>
              </>
            }
          >
            Create a key, set it and the base URL in your server’s environment, and keep using your current
            SDK.
          </EmptyState>
        ) : (
          <div className="grid min-w-0 gap-3">
            <div className="flex flex-wrap items-start justify-between gap-2">
              <KeyFilterBar makers={makers} />
              <ListColumnsButton table="keys" remembered={chosen} remember={chooseColumnsAction} />
            </div>
            {rows.length > 0 ? (
              <KeySelection keys={mayChange ? rows.flatMap(selectable) : []}>
                <BulkBar />
                <KeyTable keys={rows} columns={shownColumns('keys', chosen)} />
              </KeySelection>
            ) : (
              <EmptyState
                icon={<SearchX />}
                title="No matching keys"
                action={
                  <Link href={here} className={buttonStyle()}>
                    Show all keys
                  </Link>
                }
              >
                Clear a filter, or search by part of the name, by the characters shown in the list, or by id.
              </EmptyState>
            )}
            <PagesNav
              label="Pages of API keys"
              {...(filters.sort ? { words: { first: 'First', next: 'More' } } : {})}
              first={filters.after ? keyUrl(here, { ...filters, q: search || null, after: null }) : null}
              next={next ? keyUrl(here, { ...filters, q: search || null, after: next }) : null}
            >
              Dates in {showZone(workspace.timeZone, nowMs)}. The call that reaches a cap still completes; the
              next one is refused with 402.
            </PagesNav>
          </div>
        )}
      </KeyCreation>
    </KeyPage>
  );
}
