import { PageHead } from '#components/page-head';
import { Skeleton, TableSkeleton } from '#components/ui/skeleton';

export default function LogsLoading() {
  return (
    <>
      <PageHead title="Logs">Every call whose key was known, refusals included.</PageHead>
      <Skeleton className="h-9" />
      <TableSkeleton label="Loading calls" rows={10} />
    </>
  );
}
