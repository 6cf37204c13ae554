import { PageHead } from '#components/page-head';
import { TableSkeleton } from '#components/ui/skeleton';

export default function KeysLoading() {
  return (
    <>
      <PageHead title="API keys">
        Your servers call the gateway with these. A change is in force on this machine at once, on every other
        one within 2 seconds.
      </PageHead>
      <TableSkeleton label="Loading keys" rows={5} />
    </>
  );
}
