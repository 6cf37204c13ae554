import { KeyRound, SearchX } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import type { SearchParams } from 'nuqs/server';
import { CreateKeyButton, KeyCreation } from '#components/keys/create-key';
import { KeySearch } from '#components/keys/key-search';
import { KeyTable } from '#components/keys/key-table';
import { envSnippet } from '#components/keys/snippets';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { buttonStyle } from '#components/ui/button';
import { CodeBlock } from '#components/ui/code-block';
import { EmptyState } from '#components/ui/empty-state';
import { keyAddress, loadKeyFilters, withoutSecret } from '#lib/console/key-filters';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { keyRowOf } from '#lib/console/show/key/rows';
import { showZone } from '#lib/console/show/time';
import { listKeys } from '#lib/control/operations/key/operations';
import { KeyPage, readSnippetFacts } from './key-page';

export const metadata: Metadata = { title: 'API keys' };

const pageSize = 50;

interface KeysPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function KeysPage({ params, searchParams }: KeysPageProps) {
  const member = await requireMember((await params).workspace, 'keys:read');
  const { workspace } = member;
  const filters = await loadKeyFilters(searchParams);
  const search = withoutSecret(filters.q ?? '');
  const [{ data: keys, next }, snippets] = await Promise.all([
    readForPage(listKeys, workspace.slug, { search, after: filters.after, limit: pageSize }),
    readSnippetFacts(workspace.slug),
  ]);
  const nowMs = Date.now();
  const place = { workspace: workspace.slug, timeZone: workspace.timeZone, nowMs };
  const here = `/${workspace.slug}/keys`;
  const narrowed = search !== '' || filters.after !== null;
  const none = keys.length === 0 && !narrowed;
  return (
    <KeyPage member={member} {...snippets}>
      <KeyCreation>
        <PageHead title="API keys" action={none ? null : <CreateKeyButton />}>
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
            {narrowed || next ? <KeySearch /> : null}
            {keys.length > 0 ? (
              <KeyTable keys={keys.map((key) => keyRowOf(key, place))} />
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
                Search by part of the name, by the characters shown in the list, or by id.
              </EmptyState>
            )}
            <PagesNav
              label="API keys pages"
              first={filters.after ? keyAddress(here, { q: search || null }) : null}
              next={next ? keyAddress(here, { q: search || null, after: next }) : null}
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
