'use client';

import { useRouter } from 'next/navigation';
import { Suspense, useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { FormField } from '#lib/console/form';
import { outcomeText, type ProviderRow, type TestedProvider } from '#lib/console/gateway/provider';

const CredentialDialog = later(() =>
  import('#components/operator/credential-dialog').then((all) => all.CredentialDialog),
);

interface ProviderTableProps {
  providers: readonly ProviderRow[];
  /** Fields of the credential form. */
  fields: readonly FormField[];
  setCredential(input: object): Promise<FormAnswer<unknown>>;
  test(input: { provider: string }): Promise<FormAnswer<TestedProvider>>;
}

/** The providers, with the reasons why any of them cannot be called. */
export function ProviderTable({ providers, fields, setCredential, test }: ProviderTableProps) {
  const [chosen, choose] = useState<ProviderRow | null>(null);
  const [open, setOpen] = useState(false);
  return (
    <>
      <Table label="Providers">
        <thead>
          <tr>
            <HeadCell>Provider</HeadCell>
            <HeadCell>Credential</HeadCell>
            <HeadCell>Protocols</HeadCell>
            <HeadCell className="text-right">Offers</HeadCell>
            <ActionsHeadCell />
          </tr>
        </thead>
        <tbody>
          {providers.map((provider) => (
            <ProviderLine
              key={provider.id}
              provider={provider}
              test={test}
              onCredential={() => {
                choose(provider);
                setOpen(true);
              }}
            />
          ))}
        </tbody>
      </Table>
      {chosen === null ? null : (
        <Suspense fallback={null}>
          <CredentialDialog
            key={chosen.id}
            provider={chosen}
            fields={fields}
            open={open}
            onOpenChange={setOpen}
            send={(values) => setCredential({ ...values, provider: chosen.id })}
          />
        </Suspense>
      )}
    </>
  );
}

interface ProviderLineProps extends Pick<ProviderTableProps, 'test'> {
  provider: ProviderRow;
  onCredential(): void;
}

function ProviderLine({ provider, test, onCredential }: ProviderLineProps) {
  const { id, name, credential, families, offers } = provider;
  const router = useRouter();
  const [told, tell] = useState<{ readonly ok: boolean; readonly text: string } | null>(null);
  const [pending, startTransition] = useTransition();
  function press() {
    startTransition(async () => {
      const answer = await test({ provider: id }).catch(() => null);
      if (answer?.ok) tell({ ok: answer.value.outcome?.ok ?? false, text: outcomeText(answer.value) });
      else tell({ ok: false, text: answer?.message ?? noAnswer });
      if (answer) router.refresh();
    });
  }
  return (
    <Row>
      <Cell className="min-w-36 align-top">
        <span className="block font-medium [overflow-wrap:anywhere]">{name}</span>
        <code className="font-mono text-muted text-xs">{id}</code>
      </Cell>
      <Cell className="min-w-48 max-w-72 align-top">
        <Badge tone={credential.usable ? 'good' : 'outline'} dot={credential.usable}>
          {credential.usable ? 'Ready' : 'Missing'}
        </Badge>
        <span className="ml-2 font-mono text-xs [overflow-wrap:anywhere]">{credential.text}</span>
        {credential.why ? (
          <span className="mt-1 block text-muted text-xs leading-4">{credential.why}</span>
        ) : null}
      </Cell>
      <Cell className="min-w-56 align-top">
        <ul className="grid gap-0.5">
          {families.map((family) => (
            <li key={family.name} title={family.why ?? family.address} className="text-[0.8125rem] leading-5">
              {family.name}
              {family.why ? <span className="text-warn text-xs"> · {family.why}</span> : null}
            </li>
          ))}
        </ul>
        <p aria-live="polite" className="empty:hidden">
          {told ? (
            <span className={`mt-1 block max-w-96 text-xs leading-4 ${told.ok ? 'text-good' : 'text-bad'}`}>
              {told.text}
            </span>
          ) : null}
        </p>
      </Cell>
      <Cell className="text-right align-top tabular-nums">{offers}</Cell>
      <Cell className="w-px align-top">
        <span className="flex justify-end gap-2">
          <Button size="small" aria-label={`Credential for ${name}`} onClick={onCredential}>
            Credential
          </Button>
          <Button
            size="small"
            aria-label={`Test ${name}`}
            title="Makes one call to the cheapest offer, at your expense"
            disabled={pending}
            onClick={press}
          >
            {pending ? 'Testing…' : 'Test'}
          </Button>
        </span>
      </Cell>
    </Row>
  );
}
