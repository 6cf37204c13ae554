import { ChevronLeft } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { PlainForm } from '#components/fleet/plain-form';
import { SureButton } from '#components/fleet/sure-button';
import { SavedCheckbox } from '#components/operator/price-updates/saved-checkbox';
import { Credentials } from '#components/operator/provider/credentials';
import { Discovery } from '#components/operator/provider/discovery';
import { ModelList } from '#components/operator/provider/model-list';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { formOf } from '#lib/console/form';
import { credentialForms } from '#lib/console/gateway/credential-forms';
import { providerRowOf } from '#lib/console/gateway/provider';
import { readForOperator } from '#lib/console/operator';
import { readSort, sortRows } from '#lib/console/sort';
import { setProvider } from '#lib/control/operations/provider/set';
import { showProvider } from '#lib/control/operations/provider/show';
import { listOwnWorkspaces } from '#lib/control/operations/user/own';
import { chooseColumnsAction } from '../../../../columns-action';
import {
  discoverModelsAction,
  offerModelsAction,
  offerOneAction,
  setAcceptingAction,
  setCredentialAction,
  setProviderAction,
  testProviderAction,
  withdrawAction,
} from '../actions';

interface ProviderPageProps {
  params: Promise<{ provider: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export async function generateMetadata({ params }: ProviderPageProps): Promise<Metadata> {
  return { title: decodeURIComponent((await params).provider) };
}

const { pricesFrom } = setProvider.fields;
const name = { ...setProvider.fields.name, required: true };
const url = { ...setProvider.fields.url, required: true };

export default async function ProviderPage({ params, searchParams }: ProviderPageProps) {
  const id = decodeURIComponent((await params).provider);
  const query = await searchParams;
  const [provider, workspaces, chosen] = await Promise.all([
    readForOperator(showProvider, { provider: id }),
    readForOperator(listOwnWorkspaces),
    readChosenColumns('providerModels', query),
  ]);
  const { models, addresses } = provider;
  const inService = models.filter(({ withdrawn }) => !withdrawn);
  const row = providerRowOf(
    provider,
    inService.map(({ model }) => model),
    Date.now(),
  );
  const roots = [...new Set(row.families.map(({ address }) => address))];
  const address = Object.values(addresses).find((one) => typeof one === 'string');
  return (
    <>
      <div className="grid gap-2">
        <Link
          href="/operator/providers"
          prefetch={false}
          className="flex w-fit items-center gap-1 rounded-md text-muted hover:text-ink"
        >
          <ChevronLeft aria-hidden className="size-4" />
          Providers
        </Link>
        <PageHead help="operator-providers" title={provider.name}>
          <code className="font-mono text-xs [overflow-wrap:anywhere]">
            {id} · {roots.join(', ')}
          </code>
        </PageHead>
      </div>
      <Discovery
        key={id}
        provider={{ id, name: provider.name }}
        start={query.added === '1' && models.length === 0}
        playground={workspaces.data[0]?.slug ?? null}
        discover={discoverModelsAction}
        offer={offerModelsAction}
      />
      <Section
        title="Models"
        note={
          <span className="flex items-center gap-3">
            {inService.length} offered
            {models.length > 0 ? (
              <ListColumnsButton table="providerModels" remembered={chosen} remember={chooseColumnsAction} />
            ) : null}
          </span>
        }
      >
        {models.length === 0 ? (
          <p className="px-4 py-4 text-muted leading-5">
            This provider offers no models yet, so it gets no calls.
          </p>
        ) : (
          <ModelList
            provider={id}
            models={sortRows(models, readSort([query.sort].flat()[0]), {
              model: ({ model }) => model,
              upstream: ({ upstreamModel }) => upstreamModel,
              context: ({ contextTokens }) => contextTokens || null,
              state: ({ withdrawn, why }) => (withdrawn ? 2 : why ? 0 : 1),
            })}
            columns={shownColumns('providerModels', chosen)}
            withdraw={withdrawAction}
            offer={offerOneAction}
          />
        )}
      </Section>
      <Credentials
        provider={row}
        fields={credentialForms()[row.auth ?? 'key']}
        setCredential={setCredentialAction}
        test={testProviderAction}
      />
      <Section title="Name and address">
        <PlainForm
          fields={formOf(address === undefined ? { name, pricesFrom } : { name, url, pricesFrom })}
          initial={{
            name: provider.name,
            url: address ?? '',
            pricesFrom: provider.pricesFrom ?? '',
          }}
          besides={{ provider: id }}
          verb={{ idle: 'Save', pending: 'Saving…' }}
          done="Provider saved"
          send={setProviderAction}
        />
      </Section>
      <Section title="Price updates">
        <div className="px-2 py-2">
          <SavedCheckbox
            label="Accept new models that the price tables list, without asking"
            checked={provider.acceptNewModels}
            field="acceptNewModels"
            besides={{ provider: id }}
            send={setAcceptingAction}
          />
        </div>
      </Section>
      {inService.length === 0 ? null : (
        <Section title="Withdraw">
          <div className="grid justify-items-start gap-3 p-4">
            <p className="text-muted leading-5">
              Its models get no new calls from it. Prices, history, credentials and what it stores stay, and
              each model can be offered again.
            </p>
            <SureButton
              label="Withdraw all models"
              question={`Stop all calls to ${provider.name}?`}
              danger
              input={{ provider: id }}
              done={`${provider.name} gets no new calls`}
              act={withdrawAction}
            />
          </div>
        </Section>
      )}
    </>
  );
}
