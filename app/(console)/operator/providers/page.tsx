import { Plug, Plus } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { ProviderTable } from '#components/operator/provider-table';
import { SecretsSection } from '#components/operator/secrets-section';
import { PageHead } from '#components/page-head';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { credentialForms } from '#lib/console/gateway/credential-forms';
import { providerRowOf } from '#lib/console/gateway/provider';
import { readModels } from '#lib/console/models/list';
import { readForOperator } from '#lib/console/operator';
import { readSort, sortRows } from '#lib/console/sort';
import { listProviders } from '#lib/control/operations/provider/list';
import { showSecrets } from '#lib/control/operations/secret/operations';
import { rotateSecretsAction, setCredentialAction, testProviderAction } from './actions';

export const metadata: Metadata = { title: 'Providers' };

interface ProvidersPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ProvidersPage({ searchParams }: ProvidersPageProps) {
  const sort = readSort([(await searchParams).sort].flat()[0]);
  const [{ data }, catalogue, secrets] = await Promise.all([
    readForOperator(listProviders),
    readModels(),
    readForOperator(showSecrets),
  ]);
  const nowMs = Date.now();
  return (
    <>
      <PageHead
        help="operator-providers"
        title="Providers"
        action={
          <Link href="/operator/providers/add" prefetch={false} className={buttonStyle({ tone: 'primary' })}>
            <Plus />
            Add provider
          </Link>
        }
      >
        Providers that calls are sent to. A provider without a credential gets no calls: set its variable in
        the gateway’s environment, or store a credential here. A stored credential is never shown again. Calls
        are spread over several credentials by priority and weight.
      </PageHead>
      {data.length === 0 ? (
        <EmptyState icon={<Plug />} title="No providers yet">
          Add one, or apply the catalogue that comes with this version with{' '}
          <code>gateway catalogue apply catalogue</code>.
        </EmptyState>
      ) : (
        <ProviderTable
          providers={sortRows(
            data.map((provider) => providerRowOf(provider, modelsAt(provider.id, catalogue), nowMs)),
            sort,
            {
              name: ({ name }) => name,
              credential: ({ credentials }) => credentials.filter(({ given }) => given).length,
              offers: ({ offers }) => offers,
            },
          )}
          forms={credentialForms()}
          setCredential={setCredentialAction}
          test={testProviderAction}
        />
      )}
      <SecretsSection {...secrets} rotate={rotateSecretsAction} />
    </>
  );
}

function modelsAt(provider: string, models: Awaited<ReturnType<typeof readModels>>): string[] {
  return models
    .filter(({ offers }) => offers.some((offer) => offer.provider === provider))
    .map(({ id }) => id);
}
