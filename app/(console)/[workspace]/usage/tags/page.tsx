import { ChevronLeft, Download, Tags } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import type { SearchParams } from 'nuqs/server';
import { ChosenColumns } from '#components/columns/chosen-columns';
import { ColumnMenu } from '#components/columns/column-menu';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { TagUsageBar } from '#components/usage/tag-usage-bar';
import { TagUsageTable } from '#components/usage/tag-usage-table';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { showRange } from '#lib/console/show/range';
import { showZoneOver } from '#lib/console/show/time';
import { loadUsageAddress, questionOf } from '#lib/console/usage/address';
import { loadTagUsage, tagUsageUrl } from '#lib/console/usage/tag-parameters';
import { tagUsageRowsOf } from '#lib/console/usage/tag-rows';
import { usageByTag } from '#lib/control/operations/usage/tags';
import { showWorkspace } from '#lib/control/operations/workspace/operations';
import { dayName, knownZone } from '#lib/core/charts/zone';
import { chooseColumnsAction } from '../../../../columns-action';

export const metadata: Metadata = { title: 'Usage by tag and end user' };

const pageSize = 50;

interface TagUsagePageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function TagUsagePage({ params, searchParams }: TagUsagePageProps) {
  const { workspace } = await requireMember((await params).workspace, 'logs:read');
  const { slug, timeZone } = workspace;
  const query = await searchParams;
  const asked = loadTagUsage(query);
  const question = questionOf(loadUsageAddress(query), Date.now(), timeZone);
  const read = (tag: string | null, limit = pageSize) =>
    readForPage(usageByTag, slug, {
      ...question.span,
      tag: asked.by === 'tag' ? tag : null,
      search: asked.q,
      sort: asked.sort,
      after: asked.after,
      limit,
    });
  // Without a name, it is the first tag that calls have.
  const named = asked.by === 'tag' && asked.tag === null ? (await read(null, 1)).names[0] : asked.tag;
  const tag = asked.by === 'tag' ? (named ?? null) : null;
  const [usage, settings, chosen] = await Promise.all([
    read(tag),
    readForPage(showWorkspace, slug, {}),
    readChosenColumns('tagUsage', query),
  ]);
  const here = `/${slug}/usage/tags`;
  const ofTags = asked.by === 'tag';
  const recorded = ofTags ? settings.tags : settings.endUsers;
  const zone = knownZone(timeZone);
  const [fromMs, toMs] = [Date.parse(usage.from), Date.parse(usage.to)];
  const shown = tagUsageRowsOf(usage, slug);
  const place = { ...asked, tag };
  const empty = usage.data.length === 0 || (ofTags && tag === null);
  return (
    <ChosenColumns table="tagUsage" remembered={chosen} remember={chooseColumnsAction}>
      <Link
        href={`/${slug}/usage`}
        className="-mb-3 inline-flex items-center gap-1 justify-self-start text-muted hover:text-ink"
      >
        <ChevronLeft aria-hidden className="size-4" />
        Usage
      </Link>
      <PageHead help="tag-usage" title="Usage by tag and end user">
        For whom and for what calls were made. Every value links to its calls in the log.
      </PageHead>
      <div className="grid min-w-0 gap-3">
        <div className="flex flex-wrap items-start justify-between gap-2">
          <TagUsageBar
            names={usage.names}
            tag={tag}
            range={question.range}
            days={{ first: dayName(question.fromMs, zone), last: dayName(question.toMs - 1, zone) }}
          />
          {empty ? null : (
            <div className="flex items-center gap-2">
              <ColumnMenu />
              <a
                href={tagUsageUrl(`${here}/csv`, { ...place, after: null, columns: null })}
                download
                className={buttonStyle({ size: 'small' })}
              >
                <Download />
                CSV
              </a>
            </div>
          )}
        </div>
        {question.fault ? <p className="text-bad leading-5">{question.fault}</p> : null}
        {empty ? (
          <Nothing
            slug={slug}
            ofTags={ofTags}
            recorded={recorded}
            searched={Boolean(asked.q ?? asked.after)}
            clear={tagUsageUrl(here, { ...place, q: null, after: null })}
          />
        ) : (
          <TagUsageTable heading={tag ?? 'End user'} {...shown} columns={shownColumns('tagUsage', chosen)} />
        )}
        <PagesNav
          label="Pages of usage"
          words={{ first: 'First', next: 'More' }}
          first={asked.after ? tagUsageUrl(here, { ...place, after: null }) : null}
          next={empty || usage.next === null ? null : tagUsageUrl(here, { ...place, after: usage.next })}
        >
          {showRange(fromMs, toMs, timeZone)}, {showZoneOver(timeZone, fromMs, toMs)}. Calls without{' '}
          {ofTags ? 'the tag' : 'an end user'} are not counted here.
          {recorded || empty ? '' : ` ${ofTags ? 'Tags' : 'End users'} are not recorded now.`}
        </PagesNav>
      </div>
    </ChosenColumns>
  );
}

interface NothingProps {
  slug: string;
  ofTags: boolean;
  recorded: boolean;
  /** Whether a search or a place in the list was asked for. */
  searched: boolean;
  clear: string;
}

function Nothing({ slug, ofTags, recorded, searched, clear }: NothingProps) {
  if (searched)
    return (
      <EmptyState
        icon={<Tags />}
        title={ofTags ? 'No matching values' : 'No matching end users'}
        action={
          <Link href={clear} className={buttonStyle()}>
            Clear search
          </Link>
        }
      >
        Search by any part of {ofTags ? 'the value' : 'the id that your app sends'}.
      </EmptyState>
    );
  if (!recorded)
    return (
      <EmptyState
        icon={<Tags />}
        title={ofTags ? 'Tags are not recorded' : 'End users are not recorded'}
        action={
          <Link href={`/${slug}/settings#tags`} className={buttonStyle({ tone: 'primary' })}>
            Open settings
          </Link>
        }
      >
        {ofTags
          ? 'Turn tags on, and send what each call is for: feature=search, tenant=acme.'
          : 'Turn end users on, and send your own id of the user with each call.'}{' '}
        Only calls that are made after that are counted.
      </EmptyState>
    );
  return (
    <EmptyState icon={<Tags />} title={ofTags ? 'No tags in this range' : 'No end users in this range'}>
      {ofTags ? (
        <>
          Send the header <code>X-Gateway-Tags: feature=search</code> with a call, or choose a longer range.
        </>
      ) : (
        <>
          Send the field <code>user</code> with a call, or choose a longer range.
        </>
      )}
    </EmptyState>
  );
}
