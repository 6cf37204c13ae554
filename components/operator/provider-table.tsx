'use client';

import Link from 'next/link';
import { Suspense, useState } from 'react';
import { type ListColumns, ListTable } from '#components/columns/list-table';
import type { FormAnswer } from '#components/form/answer';
import { CredentialLine } from '#components/operator/provider/credential-line';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';
import type { ColumnOf } from '#lib/console/columns';
import type { CredentialForms } from '#lib/console/gateway/credential-forms';
import type { CredentialRow, ProviderRow, TestedProvider } from '#lib/console/gateway/provider';

const CredentialDialog = later(() =>
  import('#components/operator/credential-dialog').then((all) => all.CredentialDialog),
);

interface ProviderTableProps {
  providers: readonly ProviderRow[];
  /** The columns after the name. */
  columns: readonly ColumnOf<'providers'>[];
  forms: CredentialForms;
  setCredential(input: object): Promise<FormAnswer<unknown>>;
  test(input: { provider: string; name: string }): Promise<FormAnswer<TestedProvider>>;
}

/** What the open form is about; without a credential, it adds one. */
interface Chosen {
  readonly provider: ProviderRow;
  readonly credential: CredentialRow | null;
}

/** The providers with their credentials, and what keeps each of them from being called. */
export function ProviderTable({ providers, columns, forms, setCredential, test }: ProviderTableProps) {
  const [chosen, choose] = useState<Chosen | null>(null);
  const [open, setOpen] = useState(false);
  const show = (next: Chosen) => {
    choose(next);
    setOpen(true);
  };
  return (
    <>
      <ListTable
        label="Providers"
        table="providers"
        looks={looksOf({ test, onShow: show })}
        columns={columns}
        rows={providers}
        actions={{
          className: 'w-px align-top',
          show: (provider) => (
            <Button
              size="small"
              aria-label={`Add a credential for ${provider.name}`}
              onClick={() => show({ provider, credential: null })}
            >
              Add
            </Button>
          ),
        }}
      />
      {chosen === null ? null : (
        <Suspense fallback={null}>
          <CredentialDialog
            key={`${chosen.provider.id}/${chosen.credential?.name ?? ''}`}
            {...chosen}
            fields={forms[chosen.provider.auth ?? 'key']}
            open={open}
            onOpenChange={setOpen}
            send={(values) =>
              setCredential({
                ...(chosen.credential && { name: chosen.credential.name }),
                ...values,
                provider: chosen.provider.id,
              })
            }
          />
        </Suspense>
      )}
    </>
  );
}

interface CredentialActions extends Pick<ProviderTableProps, 'test'> {
  onShow(chosen: Chosen): void;
}

function looksOf({ test, onShow }: CredentialActions): ListColumns<ProviderRow, 'providers'> {
  return {
    fixed: {
      sort: { by: 'name' },
      place: 'title',
      className: 'min-w-36 align-top',
      show: ({ id, name }) => (
        <>
          <Link
            href={`/operator/providers/${id}`}
            prefetch={false}
            className="block rounded-md font-medium [overflow-wrap:anywhere] hover:underline"
          >
            {name}
          </Link>
          <code className="font-mono text-muted text-xs">{id}</code>
        </>
      ),
    },
    credentials: {
      sort: { by: 'credential', descendingFirst: true },
      place: 'whole',
      className: 'min-w-80 align-top',
      show: (provider) => (
        <ul className="grid gap-2.5">
          {provider.credentials.map((credential) => (
            <CredentialLine
              key={credential.name}
              provider={provider}
              credential={credential}
              test={test}
              onEdit={() => onShow({ provider, credential })}
            />
          ))}
        </ul>
      ),
    },
    protocols: {
      place: 'whole',
      className: 'min-w-44 align-top',
      show: ({ families }) => (
        <ul className="flex max-w-80 flex-wrap gap-x-1.5">
          {families.map((family, at) => (
            <li
              key={family.name}
              title={family.why ?? family.address}
              className={`text-[0.8125rem] leading-5 ${family.why ? 'basis-full' : ''}`}
            >
              {family.name}
              {family.why || at === families.length - 1 ? null : ','}
              {family.why ? <span className="text-warn text-xs"> · {family.why}</span> : null}
            </li>
          ))}
        </ul>
      ),
    },
    offers: {
      sort: { by: 'offers', descendingFirst: true },
      headClass: 'text-right',
      className: 'text-right align-top tabular-nums',
      show: ({ offers }) => offers,
    },
  };
}
