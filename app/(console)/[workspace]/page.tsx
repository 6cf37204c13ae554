import { KeyRound } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { Suspense } from 'react';
import { OverviewSkeleton } from '#components/overview/overview-skeleton';
import { RangeChoice } from '#components/overview/range-choice';
import { PageHead } from '#components/page-head';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { loadOverviewRange } from '#lib/console/usage/address';
import { showOverview } from '#lib/control/overview/operations';
import { OverviewFigures } from './overview-figures';

export const metadata: Metadata = { title: 'Overview' };

interface OverviewPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/** How the workspace stands; one that never called is shown how to begin. */
export default async function OverviewPage({ params, searchParams }: OverviewPageProps) {
  const { workspace } = await requireMember((await params).workspace, 'logs:read');
  const [{ range }, found] = await Promise.all([
    loadOverviewRange(searchParams),
    readForPage(showOverview, workspace.slug, {}),
  ]);
  if (!found.called) {
    return (
      <>
        <PageHead title="Overview" />
        <EmptyState
          icon={<KeyRound />}
          title="No calls yet"
          action={
            <Link href={`/${workspace.slug}/keys`} className={buttonStyle({ tone: 'primary' })}>
              Go to API keys
            </Link>
          }
        >
          Create a key and send the first request; what it costs and how it went is shown here.
        </EmptyState>
      </>
    );
  }
  return (
    <>
      <PageHead title="Overview" action={<RangeChoice />} />
      <Suspense fallback={<OverviewSkeleton />}>
        <OverviewFigures workspace={workspace} found={found} range={range} nowMs={Date.now()} />
      </Suspense>
    </>
  );
}
