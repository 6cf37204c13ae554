import { SearchX, Wallet } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import type { SearchParams } from 'nuqs/server';
import { ChosenColumns } from '#components/columns/chosen-columns';
import { ColumnMenu } from '#components/columns/column-menu';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { Section } from '#components/section';
import { CreateTagBudget } from '#components/tag-budgets/create-tag-budget';
import { TagBudgetSearch } from '#components/tag-budgets/tag-budget-search';
import { TagBudgetTable } from '#components/tag-budgets/tag-budget-table';
import { TagLookUp } from '#components/tag-budgets/tag-look-up';
import { TagSpend } from '#components/tag-budgets/tag-spend';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { formOf } from '#lib/console/form';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { readForPage, tryForPage } from '#lib/console/operation';
import { tagBudgetRowOf, tagSpendOf } from '#lib/console/show/tag-budget-rows';
import { showZone } from '#lib/console/show/time';
import { loadTagBudgets, tagBudgetsUrl } from '#lib/console/tag-budget-filters';
import {
  createTagBudget,
  listTagBudgets,
  setTagBudget,
  showTagSpend,
} from '#lib/control/operations/tag-budget/operations';
import { usageByTag } from '#lib/control/operations/usage/tags';
import { showWorkspace } from '#lib/control/operations/workspace/operations';
import { chooseColumnsAction } from '../../../columns-action';
import { createTagBudgetAction, deleteTagBudgetAction, setTagBudgetAction } from './actions';

export const metadata: Metadata = { title: 'User and tag budgets' };

const pageSize = 50;
const quarterMs = 900_000;
const { id: _, ...changeable } = setTagBudget.fields;

interface TagBudgetsPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function TagBudgetsPage({ params, searchParams }: TagBudgetsPageProps) {
  const member = await requireMember((await params).workspace, 'keys:read');
  const { slug, timeZone } = member.workspace;
  const query = await searchParams;
  const asked = loadTagBudgets(query);
  const nowMs = Date.now();
  const { q, sort, after, value, tag } = asked;
  const [{ data, next }, settings, { names }, chosen, looked] = await Promise.all([
    readForPage(listTagBudgets, slug, { search: q, sort, after, limit: pageSize }),
    readForPage(showWorkspace, slug, {}),
    // Only for the names of tags, so of the shortest range.
    readForPage(usageByTag, slug, { from: new Date(nowMs - quarterMs).toISOString(), limit: 1 }),
    readChosenColumns('tagBudgets', query),
    value === null ? null : tryForPage(showTagSpend, slug, { value, tag }),
  ]);
  const recorded = { tags: settings.tags, endUsers: settings.endUsers };
  const place = { workspace: slug, timeZone, nowMs, recorded };
  const rows = data.map((budget) => tagBudgetRowOf(budget, place));
  const locked = lockOf(member, 'keys:write', 'change budgets');
  const here = `/${slug}/tag-budgets`;
  const facts = { workspace: slug, fields: formOf(createTagBudget.fields), create: createTagBudgetAction };
  const nothing = rows.length === 0 && q === null && after === null;
  const off = !recorded.tags && !recorded.endUsers;
  const spend = looked?.ok ? tagSpendOf(looked.value, place) : null;
  return (
    <ChosenColumns table="tagBudgets" remembered={chosen} remember={chooseColumnsAction}>
      <PageHead
        help="tag-budgets"
        title="User and tag budgets"
        action={<CreateTagBudget key="new" {...facts} subject={null} locked={locked} />}
      >
        What each of your end users, or calls with a tag, may spend and ask for, in addition to the limits of
        keys.
      </PageHead>
      {off ? (
        <p className="rounded-lg bg-warn-soft px-4 py-3 text-warn leading-5">
          Neither end users nor tags are recorded, so budgets of them are not in force.{' '}
          <Link href={`/${slug}/settings#tags`} className="font-medium underline underline-offset-2">
            Turn them on in Settings
          </Link>
        </p>
      ) : null}
      {nothing ? (
        <EmptyState icon={<Wallet />} title="No budgets yet">
          Give each end user a dollar a day, and those who need more a budget of their own. Calls over a
          budget are refused with 402, which names whose budget it was.
        </EmptyState>
      ) : (
        <div className="grid min-w-0 gap-3">
          <div className="flex flex-wrap items-start justify-between gap-2">
            <TagBudgetSearch />
            <ColumnMenu />
          </div>
          {rows.length > 0 ? (
            <TagBudgetTable
              workspace={slug}
              budgets={rows}
              columns={shownColumns('tagBudgets', chosen)}
              fields={formOf(changeable)}
              mayChange={locked === null}
              actions={{ set: setTagBudgetAction, remove: deleteTagBudgetAction }}
            />
          ) : (
            <EmptyState
              icon={<SearchX />}
              title="No matching budgets"
              action={
                <Link href={here} className={buttonStyle()}>
                  Show all budgets
                </Link>
              }
            >
              Only defaults and those with a budget of their own are listed. Look up any other end user or
              value below.
            </EmptyState>
          )}
          <PagesNav
            label="Pages of budgets"
            words={{ first: 'First', next: 'More' }}
            first={after ? tagBudgetsUrl(here, { ...asked, after: null }) : null}
            next={next ? tagBudgetsUrl(here, { ...asked, after: next }) : null}
          >
            Times in {showZone(timeZone, nowMs)}. The call that crosses a budget completes; the next one is
            refused.{locked ? ` ${locked}` : ''}
          </PagesNav>
        </div>
      )}
      <Section title="Look up an end user or a value" note="Also without a budget of its own">
        <div className="px-4 py-3">
          <TagLookUp key={`${tag} ${value}`} names={names} />
          {looked && !looked.ok ? <p className="mt-2 text-bad leading-5">{looked.message}</p> : null}
        </div>
        {spend ? (
          <TagSpend
            facts={spend}
            action={
              spend.bound === 'own' ? null : (
                <CreateTagBudget key={`${tag} ${value}`} {...facts} subject={spend.subject} locked={locked} />
              )
            }
          />
        ) : null}
      </Section>
    </ChosenColumns>
  );
}
