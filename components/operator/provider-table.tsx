'use client';

import Link from 'next/link';
import { Suspense, useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { CredentialLine } from '#components/operator/provider/credential-line';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { CredentialForms } from '#lib/console/gateway/credential-forms';
import type { CredentialRow, ProviderRow, TestedProvider } from '#lib/console/gateway/provider';

const CredentialDialog = later(() =>
  import('#components/operator/credential-dialog').then((all) => all.CredentialDialog),
);

interface ProviderTableProps {
  providers: readonly ProviderRow[];
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
export function ProviderTable({ providers, forms, setCredential, test }: ProviderTableProps) {
  const [chosen, choose] = useState<Chosen | null>(null);
  const [open, setOpen] = useState(false);
  const show = (next: Chosen) => {
    choose(next);
    setOpen(true);
  };
  return (
    <>
      <Table label="Providers">
        <thead>
          <tr>
            <SortHead by="name">Provider</SortHead>
            <SortHead by="credential" descendingFirst>
              Credentials
            </SortHead>
            <HeadCell>Protocols</HeadCell>
            <SortHead by="offers" descendingFirst className="text-right">
              Offers
            </SortHead>
            <ActionsHeadCell />
          </tr>
        </thead>
        <tbody>
          {providers.map((provider) => (
            <ProviderLine key={provider.id} provider={provider} test={test} onShow={show} />
          ))}
        </tbody>
      </Table>
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

interface ProviderLineProps extends Pick<ProviderTableProps, 'test'> {
  provider: ProviderRow;
  onShow(chosen: Chosen): void;
}

function ProviderLine({ provider, test, onShow }: ProviderLineProps) {
  const { id, name, credentials, families, offers } = provider;
  return (
    <Row>
      <Cell place="title" className="min-w-36 align-top">
        <Link
          href={`/operator/providers/${id}`}
          prefetch={false}
          className="block rounded-md font-medium [overflow-wrap:anywhere] hover:underline"
        >
          {name}
        </Link>
        <code className="font-mono text-muted text-xs">{id}</code>
      </Cell>
      <Cell className="min-w-80 align-top">
        <ul className="grid gap-2.5">
          {credentials.map((credential) => (
            <CredentialLine
              key={`${credential.name} ${credential.state.text}`}
              provider={provider}
              credential={credential}
              test={test}
              onEdit={() => onShow({ provider, credential })}
            />
          ))}
        </ul>
      </Cell>
      <Cell className="min-w-44 align-top">
        <ul className="grid gap-0.5">
          {families.map((family) => (
            <li key={family.name} title={family.why ?? family.address} className="text-[0.8125rem] leading-5">
              {family.name}
              {family.why ? <span className="text-warn text-xs"> · {family.why}</span> : null}
            </li>
          ))}
        </ul>
      </Cell>
      <Cell label="Offers" className="text-right align-top tabular-nums">
        {offers}
      </Cell>
      <Cell className="w-px align-top">
        <Button
          size="small"
          aria-label={`Add a credential for ${name}`}
          onClick={() => onShow({ provider, credential: null })}
        >
          Add
        </Button>
      </Cell>
    </Row>
  );
}
