import { Plug } from 'lucide-react';
import type { Metadata } from 'next';
import { type CredentialFields, ProviderTable } from '#components/operator/provider-table';
import { SecretsSection } from '#components/operator/secrets-section';
import { PageHead } from '#components/page-head';
import { EmptyState } from '#components/ui/empty-state';
import { formOf } from '#lib/console/form';
import { providerRowOf } from '#lib/console/gateway/provider';
import { readModels } from '#lib/console/models/list';
import { readForOperator } from '#lib/console/operator';
import { readSort, sortRows } from '#lib/console/sort';
import type { Fields } from '#lib/control/operations/field/field';
import { partsOf } from '#lib/control/operations/provider/cloud-fields';
import { setCredential } from '#lib/control/operations/provider/credential';
import { listProviders } from '#lib/control/operations/provider/list';
import { showSecrets } from '#lib/control/operations/secret/operations';
import type { CloudKind } from '#lib/core/schemas/catalogue';
import { rotateSecretsAction, setCredentialAction, testProviderAction } from './actions';

export const metadata: Metadata = { title: 'Providers' };

const { name, value, env, weight, priority, models, ...parts } = setCredential.fields;

/** The form of a credential; those of a cloud have the parts of its identities. */
function fieldsFor(kind: CloudKind | null) {
  const own: Fields = Object.fromEntries(
    (kind === null ? [] : partsOf[kind]).map((part) => [part, parts[part]]),
  );
  return formOf({
    name: { ...name, required: true },
    value:
      kind === null
        ? { ...value, help: 'The credential from the provider; it is never shown again.' }
        : { ...value, label: cloudLabels[kind] },
    ...own,
    env: { ...env, label: 'Or an environment variable' },
    weight,
    priority,
    models,
  });
}

const cloudLabels: Readonly<Record<CloudKind, string>> = {
  'google-service-account': 'JSON key of a service account',
  'entra-id': 'API key',
  'aws-sigv4': 'API key',
};

const fields: CredentialFields = {
  key: fieldsFor(null),
  'google-service-account': fieldsFor('google-service-account'),
  'entra-id': fieldsFor('entra-id'),
  'aws-sigv4': fieldsFor('aws-sigv4'),
};

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
      <PageHead title="Providers">
        Providers that calls are sent to. A provider without a credential gets no calls: set its variable in
        the gateway’s environment, or store a credential here. A stored credential is never shown again. Calls
        are spread over several credentials by priority and weight.
      </PageHead>
      {data.length === 0 ? (
        <EmptyState icon={<Plug />} title="No providers yet">
          The catalogue is empty. Run <code>gateway catalogue apply catalogue</code>.
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
          fields={fields}
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
