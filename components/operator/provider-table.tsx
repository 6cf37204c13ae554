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
  /** Of the form for a credential. */
  fields: readonly FormField[];
  setCredential(input: object): Promise<FormAnswer<unknown>>;
  test(input: { provider: string }): Promise<FormAnswer<TestedProvider>>;
}

/** The providers, with what keeps each of them from being called. */
export function ProviderTable({ providers, fields, setCredential, test }: ProviderTableProps) {
  const [chosen, choose] = useState<ProviderRow | null>(null);
  const [open, setOpen] = useState(false);
  /** Of which provider a credential was saved last: what an earlier test said is not about it. */
  const [saved, setSaved] = useState({ id: '', times: 0 });
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
              key={`${provider.id} ${saved.id === provider.id ? saved.times : 0}`}
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
            onSaved={() => setSaved(({ times }) => ({ id: chosen.id, times: times + 1 }))}
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
  const { state } = credential;
  const router = useRouter();
  /** Of the last test; what became of it stands beside the credential, which may be another one since. */
  const [told, tell] = useState<{ readonly ok: boolean; readonly text: string } | null>(null);
  const [pending, startTransition] = useTransition();
  function press() {
    startTransition(async () => {
      const answer = await test({ provider: id }).catch(() => null);
      if (answer?.ok) tell(answer.value.outcome?.ok ? { ok: true, text: outcomeText(answer.value) } : null);
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
        <Badge tone={state.tone} dot={state.tone !== 'outline'}>
          {state.text}
        </Badge>
        <span className="ml-2 font-mono text-xs [overflow-wrap:anywhere]">{credential.text}</span>
        {state.note ? (
          <span
            className={`mt-1 block text-xs leading-4 [overflow-wrap:anywhere] ${state.tone === 'bad' ? 'text-bad' : 'text-muted'}`}
          >
            {state.note}
          </span>
        ) : null}
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
            tone={state.text === 'Not tested' ? 'primary' : 'plain'}
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
