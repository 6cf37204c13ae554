import { KeySquare } from 'lucide-react';
import type { Metadata } from 'next';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { CreateOwnKey } from '#components/own-keys/create-own-key';
import { OwnKeyTable } from '#components/own-keys/own-key-table';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { Section } from '#components/section';
import { EmptyState } from '#components/ui/empty-state';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { formOf } from '#lib/console/form';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { showZone } from '#lib/console/show/time';
import { readSort, sortRows } from '#lib/console/sort';
import { ownKeyRowOf, ownKeyTerms } from '#lib/console/team/own-key-rows';
import { listModelNames } from '#lib/control/operations/catalogue/operations';
import { createOwnKey, listOwnKeys, setOwnKey } from '#lib/control/operations/own-key/operations';
import { simulatedProvider } from '#lib/core/simulated';
import { chooseColumnsAction } from '../../../columns-action';
import { createOwnKeyAction, deleteOwnKeyAction, setOwnKeyAction, testOwnKeyAction } from './actions';

export const metadata: Metadata = { title: 'Own provider keys' };

const { provider: _, address, ...newFields } = createOwnKey.fields;
const { value, use, models } = setOwnKey.fields;

interface OwnKeysPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function OwnKeysPage({ params, searchParams }: OwnKeysPageProps) {
  const query = await searchParams;
  const chosen = await readChosenColumns('ownKeys', query);
  const member = await requireMember((await params).workspace, 'own-keys:read');
  const { slug, timeZone } = member.workspace;
  const [{ data, allowed, addresses, feePercent }, { offered }] = await Promise.all([
    // A workspace may have 50.
    readForPage(listOwnKeys, slug, { limit: 50 }),
    readForPage(listModelNames, undefined, {}),
  ]);
  const nowMs = Date.now();
  const rows = data.map((key) => ownKeyRowOf(key, { providers: offered, timeZone, nowMs }));
  const locked = lockOf(member, 'own-keys:write', 'change own keys');
  const off = 'The operator of this gateway does not allow own keys.';
  const providers = offered.filter(({ id }) => id !== simulatedProvider);
  return (
    <>
      <PageHead
        help="own-keys"
        title="Own provider keys"
        action={
          <div className="flex flex-wrap gap-2">
            {data.length > 0 ? (
              <ListColumnsButton table="ownKeys" remembered={chosen} remember={chooseColumnsAction} />
            ) : null}
            {allowed ? (
              <CreateOwnKey
                workspace={slug}
                providers={providers}
                fields={formOf(addresses ? { ...newFields, address } : newFields)}
                locked={locked}
                create={createOwnKeyAction}
              />
            ) : null}
          </div>
        }
      >
        Call models with your own accounts at providers. Your applications keep using the API keys of this
        workspace.
      </PageHead>
      {allowed ? null : data.length === 0 ? (
        <EmptyState icon={<KeySquare />} title="Own keys are off">
          {off} An operator can turn them on with the setting OWN_KEYS.
        </EmptyState>
      ) : (
        <p className="rounded-lg bg-warn-soft px-4 py-3 text-warn leading-5">
          {off} These keys are not used until they are allowed again; you can delete them.
        </p>
      )}
      {data.length > 0 ? (
        <div className="grid min-w-0 gap-3">
          <OwnKeyTable
            workspace={slug}
            columns={shownColumns('ownKeys', chosen)}
            keys={sortRows(rows, readSort([query.sort].flat()[0]), {
              name: (row) => row.name,
              used: (row) => row.use,
              state: (row) => row.state.text,
            })}
            fields={{
              edit: formOf({ use, models }),
              replace: formOf({ value: { ...value, required: true } }),
            }}
            mayChange={locked === null}
            allowed={allowed}
            actions={{ set: setOwnKeyAction, test: testOwnKeyAction, remove: deleteOwnKeyAction }}
          />
          <PagesNav label="Pages of own provider keys" first={null} next={null}>
            Times in {showZone(timeZone, nowMs)}. A test makes the cheapest call, which your provider bills.
            {locked ? ` ${locked}` : ''}
          </PagesNav>
        </div>
      ) : allowed ? (
        <EmptyState icon={<KeySquare />} title="No own keys yet">
          Add the API key of your account at a provider. It is tested with one call before it is used, stored
          encrypted, and never shown again.
        </EmptyState>
      ) : null}
      {allowed ? (
        <Section title="Cost of calls with your own keys">
          <dl className="divide-y">
            {ownKeyTerms(feePercent).map(({ name, text }) => (
              <div key={name} className="grid gap-x-4 gap-y-0.5 px-4 py-2.5 sm:grid-cols-[7rem_1fr]">
                <dt className="text-muted">{name}</dt>
                <dd className="max-w-3xl leading-5">{text}</dd>
              </div>
            ))}
          </dl>
        </Section>
      ) : null}
    </>
  );
}
