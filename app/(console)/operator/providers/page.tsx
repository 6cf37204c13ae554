import { Plug, Plus } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { ProviderTable } from '#components/operator/provider-table';
import { SecretsSection } from '#components/operator/secrets-section';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { credentialForms } from '#lib/console/gateway/credential-forms';
import { providerRowOf } from '#lib/console/gateway/provider';
import { readModels } from '#lib/console/models/list';
import { readForOperator } from '#lib/console/operator';
import { readSort, sortRows } from '#lib/console/sort';
import { listProviders, type ShownProvider } from '#lib/control/operations/provider/list';
import { showSecrets } from '#lib/control/operations/secret/operations';
import { chooseColumnsAction } from '../../../columns-action';
import { rotateSecretsAction, setCredentialAction, testProviderAction } from './actions';

export const metadata: Metadata = { title: 'Providers' };

interface ProvidersPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function ProvidersPage({ searchParams }: ProvidersPageProps) {
  const query = await searchParams;
  const sort = readSort([query.sort].flat()[0]);
  const [{ data }, catalogue, secrets, chosen] = await Promise.all([
    readForOperator(listProviders),
    readModels(),
    readForOperator(showSecrets),
    readChosenColumns('providers', query),
  ]);
  const nowMs = Date.now();
  const isWithdrawn = ({ offers, withdrawn }: ShownProvider) => offers === 0 && withdrawn > 0;
  const current = data.filter((provider) => !isWithdrawn(provider));
  const withdrawn = data.filter(isWithdrawn);
  return (
    <>
      <PageHead
        help="operator-providers"
        title="Providers"
        action={
          <div className="flex flex-wrap gap-2">
            {current.length > 0 ? (
              <ListColumnsButton table="providers" remembered={chosen} remember={chooseColumnsAction} />
            ) : null}
            <Link
              href="/operator/providers/add"
              prefetch={false}
              className={buttonStyle({ tone: 'primary' })}
            >
              <Plus />
              Add provider
            </Link>
          </div>
        }
      >
        Providers that calls are sent to. A provider without a credential gets no calls: set its variable in
        the gateway’s environment, or store a credential here. A stored credential is never shown again. Calls
        are spread over several credentials by priority and weight.
      </PageHead>
      {current.length === 0 ? (
        <EmptyState icon={<Plug />} title="No providers yet">
          Add one, or apply the catalogue that comes with this version with{' '}
          <code>gateway catalogue apply catalogue</code>.
        </EmptyState>
      ) : (
        <ProviderTable
          columns={shownColumns('providers', chosen)}
          providers={sortRows(
            current.map((provider) => providerRowOf(provider, modelsAt(provider.id, catalogue), nowMs)),
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
      {withdrawn.length > 0 ? (
        <Section title="Withdrawn providers" note="They get no new calls; their history stays">
          <ul className="divide-y">
            {withdrawn.map(({ id, name, withdrawn: models }) => (
              <li key={id} className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 px-4 py-2.5">
                <Link
                  href={`/operator/providers/${id}`}
                  prefetch={false}
                  className="rounded-md font-medium [overflow-wrap:anywhere] hover:underline"
                >
                  {name}
                </Link>
                <code className="font-mono text-muted text-xs">{id}</code>
                <span className="text-muted text-xs">
                  {models === 1 ? '1 withdrawn model' : `${models} withdrawn models`}
                </span>
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
      <SecretsSection {...secrets} rotate={rotateSecretsAction} />
    </>
  );
}

function modelsAt(provider: string, models: Awaited<ReturnType<typeof readModels>>): string[] {
  return models
    .filter(({ offers }) => offers.some((offer) => offer.provider === provider))
    .map(({ id }) => id);
}
