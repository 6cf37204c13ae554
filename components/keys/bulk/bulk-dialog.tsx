'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import { useKeySelection } from '#components/keys/bulk/selection';
import { useKeyPage } from '#components/keys/key-actions';
import { Field } from '#components/ui/field';
import { NativeSelect } from '#components/ui/native-select';

export type BulkVerb = 'enable' | 'disable' | 'cap' | 'revoke';

const words: Readonly<
  Record<BulkVerb, { idle: string; pending: string; done: string; description: string }>
> = {
  enable: {
    idle: 'Enable',
    pending: 'Enabling…',
    done: 'enabled',
    description: 'Their calls are served again.',
  },
  disable: {
    idle: 'Disable',
    pending: 'Disabling…',
    done: 'disabled',
    description: 'Their calls will be refused until they are enabled again. Running calls finish.',
  },
  cap: {
    idle: 'Set the cap of',
    pending: 'Saving…',
    done: 'changed',
    description: 'Replaces this cap of each key. Their other caps and limits stay as they are.',
  },
  revoke: {
    idle: 'Revoke',
    pending: 'Revoking…',
    done: 'revoked',
    description:
      'Every call with them will be refused. Running calls finish. Logs and spend are kept. This cannot be undone.',
  },
};

const caps = [
  { value: 'dailyCap', label: 'Per day' },
  { value: 'd7Cap', label: 'Any 7 days' },
  { value: 'd30Cap', label: 'Any 30 days' },
  { value: 'quota', label: 'Lifetime' },
];

const mostNamed = 5;

interface BulkDialogProps {
  verb: BulkVerb;
  keys: readonly { readonly id: string; readonly name: string }[];
  open: boolean;
  onOpenChange(open: boolean): void;
}

/** Changes all selected keys in one action; it says how many before and after. */
export function BulkDialog({ verb, keys, open, onOpenChange }: BulkDialogProps) {
  const { actions, workspace } = useKeyPage();
  const selection = useKeySelection();
  const router = useRouter();
  const [cap, setCap] = useState('dailyCap');
  const [amount, setAmount] = useState('');
  const { idle, pending, done, description } = words[verb];
  const count = countOf(keys.length);

  async function act(): Promise<FormAnswer<unknown>> {
    const inputs = keys.map(({ id }) => ({ id, ...(verb === 'cap' ? { [cap]: amount } : {}) }));
    const answer = await actions.each(workspace, { change: verb === 'cap' ? 'set' : verb, inputs });
    if (!answer.ok || answer.value.failed.length === 0) return answer;
    const failed = answer.value.failed.flatMap(({ at }) => keys[at] ?? []);
    // Those that were changed are shown as they are now; the others stay selected.
    selection?.select(failed.map(({ id }) => id));
    router.refresh();
    const changed = keys.length - failed.length;
    const message = `${changed} of ${count} ${done}. Not ${done}: ${namesOf(failed)}. ${answer.value.failed[0]?.message}`;
    return { ok: false, message, field: null, signedOut: false };
  }

  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title={`${idle} ${count}?`}
      description={
        <>
          {namesOf(keys)}. {description}
        </>
      }
      typed={verb === 'revoke' ? `revoke ${keys.length}` : null}
      tone={verb === 'revoke' ? 'danger' : 'primary'}
      verb={{ idle: `${idle} ${count}`, pending }}
      act={act}
      done={`${count} ${done}`}
      onDone={() => {
        onOpenChange(false);
        selection?.select([]);
        router.refresh();
      }}
    >
      {verb === 'cap' ? (
        <div className="grid gap-3 sm:grid-cols-2">
          <div className="grid content-start gap-1.5">
            <span aria-hidden className="font-medium text-[0.8125rem] leading-5">
              Cap
            </span>
            <NativeSelect label="Cap" value={cap} options={caps} onChange={setCap} />
          </div>
          <Field
            name="amount"
            label="Amount, USD"
            value={amount}
            onValueChange={setAmount}
            placeholder="No cap"
            inputMode="decimal"
            autoComplete="off"
          />
        </div>
      ) : null}
    </ConfirmDialog>
  );
}

function countOf(keys: number): string {
  return keys === 1 ? '1 key' : `${keys} keys`;
}

function namesOf(keys: BulkDialogProps['keys']): string {
  const named = keys
    .slice(0, mostNamed)
    .map(({ name }) => name)
    .join(', ');
  return keys.length > mostNamed ? `${named} and ${keys.length - mostNamed} more` : named;
}
