'use client';

import { Suspense, useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { CredentialLine } from '#components/operator/provider/credential-line';
import { Section } from '#components/section';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';
import type { FormField } from '#lib/console/form';
import type { CredentialRow, ProviderRow, TestedProvider } from '#lib/console/gateway/provider';

const CredentialDialog = later(() =>
  import('#components/operator/credential-dialog').then((all) => all.CredentialDialog),
);

interface CredentialsProps {
  provider: ProviderRow;
  fields: readonly FormField[];
  setCredential(input: object): Promise<FormAnswer<unknown>>;
  test(input: { provider: string; name: string }): Promise<FormAnswer<TestedProvider>>;
}

/** The credentials of one provider. */
export function Credentials({ provider, fields, setCredential, test }: CredentialsProps) {
  /** null: a new one; undefined: the form was never opened. */
  const [chosen, choose] = useState<CredentialRow | null | undefined>(undefined);
  const [open, setOpen] = useState(false);
  const show = (credential: CredentialRow | null) => {
    choose(credential);
    setOpen(true);
  };
  return (
    <Section title="Credentials">
      <ul className="grid gap-3 p-4">
        {provider.credentials.map((credential) => (
          <CredentialLine
            key={credential.name}
            provider={provider}
            credential={credential}
            test={test}
            onEdit={() => show(credential)}
          />
        ))}
      </ul>
      <div className="border-t px-4 py-3">
        <Button size="small" onClick={() => show(null)}>
          Add a credential
        </Button>
      </div>
      {chosen === undefined ? null : (
        <Suspense fallback={null}>
          <CredentialDialog
            key={chosen?.name ?? ''}
            provider={provider}
            credential={chosen}
            fields={fields}
            open={open}
            onOpenChange={setOpen}
            send={(values) =>
              setCredential({ ...(chosen && { name: chosen.name }), ...values, provider: provider.id })
            }
          />
        </Suspense>
      )}
    </Section>
  );
}
