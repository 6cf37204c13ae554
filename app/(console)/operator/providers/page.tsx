import { Plug } from 'lucide-react';
import type { Metadata } from 'next';
import { ProviderTable } from '#components/operator/provider-table';
import { PageHead } from '#components/page-head';
import { EmptyState } from '#components/ui/empty-state';
import { readForOperator } from '#lib/console/operator';
import { listProviders } from '#lib/control/provider/list';

export const metadata: Metadata = { title: 'Providers' };

export default async function ProvidersPage() {
  const { data } = await readForOperator(listProviders);
  return (
    <>
      <PageHead title="Providers">
        Where calls go, and whether this process has what it needs to send them. A credential is never shown.
      </PageHead>
      {data.length === 0 ? (
        <EmptyState icon={<Plug />} title="No provider yet">
          The catalogue is empty. Run <code>gateway catalogue apply catalogue</code>.
        </EmptyState>
      ) : (
        <ProviderTable providers={data} />
      )}
    </>
  );
}
