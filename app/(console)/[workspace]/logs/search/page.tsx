import type { Metadata } from 'next';
import Link from 'next/link';
import { SearchContent } from '#components/logs/search-content';
import { PageHead } from '#components/page-head';
import { buttonStyle } from '#components/ui/button';
import { listUrl } from '#lib/console/list-url';
import { lockOf } from '#lib/console/lock';
import { readLogAddress } from '#lib/console/log/address';
import { standing } from '#lib/console/log/standing';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { logFields } from '#lib/control/operations/call/operations';
import { listKeyNames } from '#lib/control/operations/key/operations';
import { searchContentAction } from '../actions';

export const metadata: Metadata = { title: 'Search content' };

interface SearchPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/** A search for text in what calls were asked and answered. */
export default async function SearchPage({ params, searchParams }: SearchPageProps) {
  const member = await requireMember((await params).workspace, 'logs:read');
  const { slug, timeZone } = member.workspace;
  const { texts, input } = readLogAddress(
    { ...(await searchParams), after: undefined, sort: undefined },
    timeZone,
  );
  const { data: keys } = await readForPage(listKeyNames, slug, { limit: 1, chosen: texts.key });
  const key = keys.find(({ id }) => id === texts.key)?.name ?? texts.key;
  const filters = Object.entries(logFields).flatMap(([name, { label }]) =>
    name in input ? [`${label}: ${name === 'key' ? key : texts[name]}`] : [],
  );
  return (
    <>
      <PageHead
        help="content"
        title="Search content"
        action={
          <Link className={buttonStyle()} href={listUrl(`/${slug}/logs`, texts)}>
            Change filters
          </Link>
        }
      >
        Text in what calls were asked and answered. Only calls whose content was kept can be found.
      </PageHead>
      <p className="text-muted leading-5">
        {filters.length === 0
          ? 'All calls, the newest first.'
          : `Only calls that the filters of the log find: ${filters.join(', ')}.`}
      </p>
      <SearchContent
        workspace={slug}
        filters={standing(input, Date.now())}
        locked={lockOf(member, 'content:read', 'search content')}
        search={searchContentAction}
      />
    </>
  );
}
