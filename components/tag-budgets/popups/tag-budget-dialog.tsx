'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { OperationForm, type Values } from '#components/form/operation-form';
import { Dialog } from '#components/ui/dialog';
import { labelStyle } from '#components/ui/field';
import { NativeSelect } from '#components/ui/native-select';
import { toast } from '#components/ui/toaster';
import type { FormField } from '#lib/console/form';

/** Whose budget is to be added. */
export interface BudgetSubject {
  /** null: it is one of end users. */
  readonly tag: string | null;
  readonly value: string;
}

export interface NewBudgetFacts {
  workspace: string;
  /** Of the operation. */
  fields: readonly FormField[];
  create(workspace: string, input: Values): Promise<FormAnswer<unknown>>;
}

interface TagBudgetDialogProps extends NewBudgetFacts {
  /** What the form begins with; null: a budget of each end user. */
  subject: BudgetSubject | null;
  open: boolean;
  onOpenChange(open: boolean): void;
}

const kinds = {
  users: { label: 'Each end user', asks: [] },
  user: { label: 'One end user', asks: ['value'] },
  values: { label: 'Each value of a tag', asks: ['tag'] },
  value: { label: 'One value of a tag', asks: ['tag', 'value'] },
} as const satisfies Record<string, { readonly label: string; readonly asks: readonly ('tag' | 'value')[] }>;
type Kind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as Kind[];

const helps: Readonly<Record<Kind, string>> = {
  users: 'The default: each end user may spend this, for itself.',
  user: 'In place of what each end user may spend. Leave all boxes empty to set no limit for this one.',
  values: 'The default: calls with each value of the tag may spend this, each value for itself.',
  value: 'In place of what each value may spend. Leave all boxes empty to set no limit for this one.',
};

/** Adds a budget: of each end user or value, or of one of them. */
export function TagBudgetDialog({ subject, open, onOpenChange, ...facts }: TagBudgetDialogProps) {
  const { workspace, fields, create } = facts;
  const router = useRouter();
  const [kind, setKind] = useState<Kind>(
    subject === null ? 'users' : subject.tag === null ? 'user' : 'value',
  );
  const asks: readonly string[] = kinds[kind].asks;
  const shown = fields
    .filter(({ name }) => (name !== 'tag' && name !== 'value') || asks.includes(name))
    .map((field) =>
      asks.includes(field.name) ? { ...field, ...wordsOf(field.name, kind), required: true } : field,
    );
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Add a budget"
      description="Applies within 2 seconds, and counts what was spent before."
    >
      <div className="grid gap-1.5 px-5 pt-4 sm:px-6">
        <span className={labelStyle}>For</span>
        <NativeSelect
          label="For"
          value={kind}
          options={kindNames.map((value) => ({ value, label: kinds[value].label }))}
          onChange={(next) => setKind(kindNames.find((name) => name === next) ?? 'users')}
        />
        <p className="text-[0.8125rem] text-muted leading-5">{helps[kind]}</p>
      </div>
      <OperationForm
        // What is asked for depends on whom it is for.
        key={kind}
        fields={shown}
        models={[]}
        initial={{ tag: subject?.tag ?? '', value: subject?.value ?? '' }}
        send={async (changed) => {
          const input: Values = { ...(subject && startOf(subject, asks)), ...changed };
          const missing = asks.find((name) => !input[name]);
          // Without it, the budget would be one of others.
          if (missing === undefined) return create(workspace, input);
          const message = missing === 'tag' ? 'Write the name of the tag.' : 'Write whose budget it is.';
          return { ok: false, message, field: missing, signedOut: false };
        }}
        verb={{ idle: 'Add budget', pending: 'Adding…' }}
        onCancel={() => onOpenChange(false)}
        onDone={() => {
          onOpenChange(false);
          toast.success('Budget added');
          router.refresh();
        }}
      />
    </Dialog>
  );
}

/** What the form began with and is sent with it, unless it was changed. */
function startOf({ tag, value }: BudgetSubject, asks: readonly string[]): Values {
  return {
    ...(asks.includes('tag') && tag !== null ? { tag } : {}),
    ...(asks.includes('value') ? { value } : {}),
  };
}

function wordsOf(name: string, kind: Kind): Pick<FormField, 'label' | 'help' | 'example'> {
  if (name === 'tag') return { label: 'Tag', help: 'Its name, without the value.', example: 'feature' };
  if (kind === 'user')
    return { label: 'End user', help: 'The id that your app sends of it.', example: 'user-17' };
  return { label: 'Value', help: 'The value of the tag.', example: 'search' };
}
