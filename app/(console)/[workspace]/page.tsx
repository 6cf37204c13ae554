import type { Metadata } from 'next';
import { RangeChoice } from '#components/overview/range-choice';
import { PageHead } from '#components/page-head';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { loadOverviewRange } from '#lib/console/usage/address';
import { showOverview } from '#lib/control/operations/overview/operations';
import { FirstRun } from './first-run';
import { OverviewFigures } from './overview-figures';

export const metadata: Metadata = { title: 'Overview' };

interface OverviewPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/** The overview of the workspace; the first steps until its first call was answered. */
export default async function OverviewPage({ params, searchParams }: OverviewPageProps) {
  const { workspace } = await requireMember((await params).workspace, 'logs:read');
  const [{ range }, found] = await Promise.all([
    loadOverviewRange(searchParams),
    readForPage(showOverview, workspace.slug, {}),
  ]);
  return (
    <>
      <PageHead help="overview" title="Overview" action={found.called ? <RangeChoice /> : null} />
      <FirstRun workspace={workspace.slug} />
      {found.called ? (
        <OverviewFigures workspace={workspace} found={found} range={range} nowMs={Date.now()} />
      ) : null}
    </>
  );
}
