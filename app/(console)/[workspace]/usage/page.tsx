import type { Metadata } from 'next';
import { Suspense } from 'react';
import { ChosenColumns } from '#components/columns/chosen-columns';
import { PageHead } from '#components/page-head';
import { UsageBar } from '#components/usage/usage-bar';
import { UsageSkeleton } from '#components/usage/usage-skeleton';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { loadUsageAddress, questionOf } from '#lib/console/usage/address';
import { listModelNames } from '#lib/control/operations/catalogue/operations';
import { listKeyNames } from '#lib/control/operations/key/operations';
import { dayName, knownZone } from '#lib/core/charts/zone';
import { chooseColumnsAction } from '../../../columns-action';
import { PageViews } from '../views/page-views';
import { UsageFigures } from './usage-figures';

export const metadata: Metadata = { title: 'Usage' };

/** Number of keys that the filter offers. */
const mostKeys = 200;

interface UsagePageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function UsagePage({ params, searchParams }: UsagePageProps) {
  // Checked before streaming starts, so that non-members get the status of a page that does not exist.
  const member = await requireMember((await params).workspace, 'logs:read');
  const { workspace } = member;
  const query = await searchParams;
  const address = await loadUsageAddress(Promise.resolve(query));
  const nowMs = Date.now();
  const question = questionOf(address, nowMs, workspace.timeZone);
  const [{ data: keys }, { data: models, providers }] = await Promise.all([
    readForPage(listKeyNames, workspace.slug, { limit: mostKeys, chosen: address.key }),
    readForPage(listModelNames, workspace.slug, {}),
  ]);
  const zone = knownZone(workspace.timeZone);
  const choices = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
  return (
    <ChosenColumns
      table="usage"
      remembered={await readChosenColumns('usage', query)}
      remember={chooseColumnsAction}
    >
      <PageHead help="usage" title="Usage" action={<PageViews member={member} page="usage" />}>
        Cost and results of calls, by the time they were admitted. Every figure links to the calls that it
        counts.
      </PageHead>
      <UsageBar
        range={question.range}
        days={{ first: dayName(question.fromMs, zone), last: dayName(question.toMs - 1, zone) }}
        step={question.step}
        steps={question.steps}
        models={choices(models)}
        providers={choices(providers)}
        keys={keys.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <Suspense fallback={<UsageSkeleton />}>
        <UsageFigures
          workspace={workspace}
          address={address}
          question={question}
          nowMs={nowMs}
          query={query}
        />
      </Suspense>
    </ChosenColumns>
  );
}
