import { Plug } from 'lucide-react';
import type { Metadata } from 'next';
import { ProviderTable } from '#components/operator/provider-table';
import { SecretsSection } from '#components/operator/secrets-section';
import { PageHead } from '#components/page-head';
import { EmptyState } from '#components/ui/empty-state';
import { formOf } from '#lib/console/form';
import { providerRowOf } from '#lib/console/gateway/provider';
import { readForOperator } from '#lib/console/operator';
import { readSort, sortRows } from '#lib/console/sort';
import { setCredential } from '#lib/control/operations/provider/credential';
import { listProviders } from '#lib/control/operations/provider/list';
import { showSecrets } from '#lib/control/operations/secret/operations';
import { rotateSecretsAction, setCredentialAction, testProviderAction } from './actions';

export const metadata: Metadata = { title: 'Providers' };

const { value, env } = setCredential.fields;

interface ProvidersPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ProvidersPage({ searchParams }: ProvidersPageProps) {
  const sort = readSort([(await searchParams).sort].flat()[0]);
  const [{ data }, secrets] = await Promise.all([
    readForOperator(listProviders),
    readForOperator(showSecrets),
  ]);
  return (
    <>
      <PageHead title="Providers">
        Providers that calls are sent to. A provider without a credential gets no calls: set its variable in
        the gateway’s environment, or store a credential here. A stored credential is never shown again.
      </PageHead>
      {data.length === 0 ? (
        <EmptyState icon={<Plug />} title="No providers yet">
          The catalogue is empty. Run <code>gateway catalogue apply catalogue</code>.
        </EmptyState>
      ) : (
        <ProviderTable
          providers={sortRows(data.map(providerRowOf), sort, {
            name: ({ name }) => name,
            credential: ({ credential }) => (credential.usable ? 0 : 1),
            offers: ({ offers }) => offers,
          })}
          fields={formOf({ value, env: { ...env, label: 'Or an environment variable' } })}
          setCredential={setCredentialAction}
          test={testProviderAction}
        />
      )}
      <SecretsSection {...secrets} rotate={rotateSecretsAction} />
    </>
  );
}
