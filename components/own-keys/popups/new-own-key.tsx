'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { OperationForm } from '#components/form/operation-form';
import { tellTest } from '#components/own-keys/tell-test';
import { Dialog } from '#components/ui/dialog';
import { labelStyle } from '#components/ui/field';
import { NativeSelect } from '#components/ui/native-select';
import type { FormField } from '#lib/console/form';
import type { OwnKeyProvider } from '#lib/console/team/own-key-rows';

export interface NewOwnKeyFacts {
  workspace: string;
  /** Those that a key can be for. */
  providers: readonly OwnKeyProvider[];
  /** Of the operation, without the provider. */
  fields: readonly FormField[];
  create(workspace: string, input: unknown): Promise<FormAnswer<{ failure: string | null }>>;
}

interface NewOwnKeyProps extends NewOwnKeyFacts {
  open: boolean;
  onOpenChange(open: boolean): void;
}

const initial = { use: 'first' };

/** Takes an own key, which is never shown again; the models to choose are those of its provider. */
export function NewOwnKey({ workspace, providers, fields, create, open, onOpenChange }: NewOwnKeyProps) {
  const router = useRouter();
  const [provider, setProvider] = useState(providers[0]?.id ?? '');
  const offered = providers.find(({ id }) => id === provider)?.models ?? [];
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Add an own key"
      description="It is tested with the cheapest call to the provider, then stored encrypted."
    >
      <div className="grid gap-1.5 px-5 pt-4 sm:px-6">
        <span className={labelStyle}>Provider</span>
        <NativeSelect
          label="Provider"
          value={provider}
          options={providers.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={setProvider}
        />
      </div>
      <OperationForm
        // The models of another provider are no choice.
        key={provider}
        fields={fields}
        models={offered}
        initial={initial}
        send={(input) => create(workspace, { ...initial, ...input, provider })}
        verb={{ idle: 'Test and add', pending: 'Testing…' }}
        onCancel={() => onOpenChange(false)}
        onDone={({ failure }, { name }) => {
          onOpenChange(false);
          tellTest(failure, {
            passed: `${String(name)} works and is in use`,
            failed: `${String(name)} is stored but not used`,
          });
          router.refresh();
        }}
      />
    </Dialog>
  );
}
