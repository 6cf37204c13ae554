'use client';

import { useRouter } from 'next/navigation';
import { type ReactNode, useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { FaultLine } from '#components/form/fault';
import { Form } from '#components/form/form';
import { OperationField } from '#components/form/operation-field';
import { Button } from '#components/ui/button';
import { toast } from '#components/ui/toaster';
import { changedOf } from '#lib/console/changed';
import type { FormField } from '#lib/console/form';

interface SettingsFormProps {
  workspace: string;
  fields: readonly FormField[];
  initial: Readonly<Record<string, unknown>>;
  /** Why nothing can be changed; null if it can. */
  locked: string | null;
  send(workspace: string, input: Readonly<Record<string, unknown>>): Promise<FormAnswer<unknown>>;
  /** Message shown when it is saved. */
  saved: string;
  /** Explains the fields. */
  children?: ReactNode;
}

/** A part of the settings with a button of its own; only what was changed in it is sent. */
export function SettingsForm(props: SettingsFormProps) {
  const { workspace, fields, initial, locked, send, saved, children } = props;
  const router = useRouter();
  const [chosen, setChosen] = useState<Readonly<Record<string, unknown>>>({});
  const [fault, setFault] = useState<{ field: string | null; message: string; signedOut: boolean } | null>(
    null,
  );
  const [pending, startTransition] = useTransition();

  function submit(data: FormData) {
    const texts = fields.flatMap(({ name }) => {
      const text = data.get(name);
      return typeof text === 'string' ? [[name, text.trim()]] : [];
    });
    startTransition(async () => {
      const values = { ...Object.fromEntries(texts), ...chosen };
      const answer = await send(workspace, changedOf(values, initial)).catch(() => null);
      if (!answer?.ok) {
        const unheard = { field: null, message: noAnswer };
        setFault(answer ?? { ...unheard, signedOut: false });
        return;
      }
      setFault(null);
      toast.success(saved);
      router.refresh();
    });
  }

  const faulty = fields.find(({ name }) => name === fault?.field);
  return (
    <Form onSend={submit} noValidate className="grid gap-4 p-4">
      {fault && !faulty ? <FaultLine fault={fault} framed /> : null}
      <fieldset disabled={locked !== null} className="grid gap-4 sm:grid-cols-2">
        {fields.map((field) => (
          <div
            key={field.name}
            className={field.kind === 'switch' ? '-mx-2 -my-1.5 sm:col-span-2' : undefined}
          >
            <OperationField
              field={field}
              models={[]}
              value={field.name in chosen ? chosen[field.name] : initial[field.name]}
              initial={initial[field.name]}
              onChange={(value) => setChosen((before) => ({ ...before, [field.name]: value }))}
              error={faulty === field ? fault?.message : undefined}
            />
          </div>
        ))}
      </fieldset>
      {children}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" disabled={pending || locked !== null}>
          {pending ? 'Saving…' : 'Save'}
        </Button>
        {locked ? <p className="text-muted text-xs leading-5">{locked}</p> : null}
      </div>
    </Form>
  );
}
