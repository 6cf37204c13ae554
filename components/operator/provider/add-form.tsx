'use client';

import { useRouter } from 'next/navigation';
import { useId, useState, useTransition } from 'react';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { FaultLine } from '#components/form/fault';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';
import { Input } from '#components/ui/input';
import type { ShownPreset } from '#lib/control/operations/provider/presets';

interface AddFormProps {
  preset: ShownPreset;
  add(input: object): Promise<FormAnswer<{ readonly provider: string }>>;
}

type Fault = Extract<FormAnswer<never>, { ok: false }>;

/** Takes address, credential and name of a new provider, and goes on to its models. */
export function AddForm({ preset, add }: AddFormProps) {
  const router = useRouter();
  const [fault, setFault] = useState<Fault | null>(null);
  const [pending, startTransition] = useTransition();
  const { credential, kind } = preset;
  const boxes = [
    {
      name: 'url',
      label: 'Address',
      initial: preset.url ?? '',
      note: preset.note && credential !== 'optional' ? preset.note : addressNote(preset),
      required: true,
    },
    ...(credential === 'none'
      ? []
      : [
          {
            name: 'value',
            label: 'Credential',
            initial: '',
            note: `${preset.cloud ? 'An API key, the JSON of an identity, or "default" for the identity of this machine' : 'The key from the provider'}. It is stored encrypted and never shown again.`,
            required: credential === 'required',
            secret: true,
          },
        ]),
    {
      name: 'name',
      label: 'Name',
      initial: kind === 'compatible' ? '' : preset.name,
      note: 'Shown to people.',
      required: true,
    },
    {
      name: 'id',
      label: 'Id',
      initial: kind === 'compatible' ? '' : preset.id,
      note: 'Begins the slugs of new models and is in logs and policies. It cannot be changed later.',
      required: true,
    },
  ];

  function submit(data: FormData) {
    const given = boxes.map(({ name }) => [name, String(data.get(name) ?? '').trim()] as const);
    const empty = boxes.find(
      ({ name, required }) => required && given.some(([n, text]) => n === name && text === ''),
    );
    if (empty) {
      const message = `${empty.label} is required.`;
      setFault({ ok: false, field: empty.name, message, signedOut: false });
      return;
    }
    startTransition(async () => {
      const input = Object.fromEntries(given.filter(([, text]) => text !== ''));
      const answer = await orNoAnswer(add({ ...input, preset: preset.id }));
      if (answer.ok) router.push(`/operator/providers/${answer.value.provider}?added=1`);
      else setFault(answer);
    });
  }

  const faulty = boxes.find(({ name }) => name === fault?.field);
  return (
    <Form onSend={submit} noValidate className="grid max-w-xl gap-4 rounded-lg border bg-surface p-5">
      {fault && !faulty ? <FaultLine fault={fault} framed /> : null}
      {boxes.map((box) => (
        <Box key={box.name} {...box} error={faulty === box ? (fault?.message ?? null) : null} />
      ))}
      <div>
        <Button type="submit" tone="primary" disabled={pending}>
          {pending ? 'Adding…' : 'Add provider'}
        </Button>
      </div>
    </Form>
  );
}

function addressNote({ kind, note }: ShownPreset): string {
  if (kind === 'compatible' && note) return note;
  return kind === 'server'
    ? 'As this gateway reaches it. If the gateway runs in a container, localhost is the container itself.'
    : 'Change it only for a proxy or another region.';
}

interface BoxProps {
  name: string;
  label: string;
  initial: string;
  note: string;
  required: boolean;
  secret?: boolean;
  error: string | null;
}

function Box({ name, label, initial, note, required, secret = false, error }: BoxProps) {
  const id = useId();
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="font-medium text-[0.8125rem] leading-5">
        {label}
        {required ? null : <span className="font-normal text-muted"> (optional)</span>}
      </label>
      <Input
        id={id}
        name={name}
        type={secret ? 'password' : 'text'}
        autoComplete="off"
        spellCheck={false}
        defaultValue={initial}
        required={required}
        aria-invalid={error !== null}
        aria-describedby={`${id}-note`}
      />
      <p
        id={`${id}-note`}
        className={`text-[0.8125rem] leading-5 ${error === null ? 'text-muted' : 'text-bad'}`}
        {...(error === null ? {} : { role: 'alert' })}
      >
        {error ?? note}
      </p>
    </div>
  );
}
