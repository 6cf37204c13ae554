import type { Metadata } from 'next';
import { CompareCalls } from '#components/logs/compare-calls';
import { PageHead } from '#components/page-head';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { compareCallsAction } from '../actions';

export const metadata: Metadata = { title: 'Compare calls' };

interface ComparePageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

/** Two calls line by line. */
export default async function ComparePage({ params, searchParams }: ComparePageProps) {
  const member = await requireMember((await params).workspace, 'logs:read');
  const query = await searchParams;
  const idOf = (name: string) => [query[name]].flat()[0]?.trim().slice(0, 100) ?? '';
  return (
    <>
      <PageHead help="content" title="Compare calls">
        Requests and answers of two calls, line by line. Both must have been kept.
      </PageHead>
      <CompareCalls
        workspace={member.workspace.slug}
        one={idOf('one')}
        other={idOf('other')}
        locked={lockOf(member, 'content:read', 'compare calls')}
        compare={compareCallsAction}
      />
    </>
  );
}
