'use client';

import { useRouter } from 'next/navigation';
import { useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';
import { NativeSelect } from '#components/ui/native-select';
import { toast } from '#components/ui/toaster';

interface ZoneFormProps {
  workspace: string;
  zone: string;
  /** Each label has the current offset. */
  zones: readonly { readonly value: string; readonly label: string }[];
  /** Why it may not be changed; null: it may. */
  locked: string | null;
  send(workspace: string, input: Readonly<Record<string, unknown>>): Promise<FormAnswer<unknown>>;
}

/** In which zone days begin; typing its name finds one. It moves the days of caps, so nothing changes before Save. */
export function ZoneForm({ workspace, zone, zones, locked, send }: ZoneFormProps) {
  const router = useRouter();
  const [chosen, setChosen] = useState(zone);
  const [pending, startTransition] = useTransition();

  function save() {
    startTransition(async () => {
      const answer = await send(workspace, { timeZone: chosen }).catch(() => null);
      if (answer?.ok) toast.success(`Time zone changed to ${chosen}`);
      else toast.error(answer?.message ?? noAnswer);
      if (answer) router.refresh();
    });
  }

  return (
    <Form onSend={save} className="grid gap-4 p-4">
      <div className="grid gap-1.5 sm:max-w-[50%]">
        <NativeSelect label="Time zone" value={chosen} options={zones} onChange={setChosen} />
        <p className="text-[0.8125rem] text-muted leading-5">
          Days start at midnight in this time zone: in caps, usage, the log and exported files.
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" disabled={pending || locked !== null || chosen === zone}>
          {pending ? 'Saving…' : 'Save'}
        </Button>
        {locked ? <p className="text-muted text-xs leading-5">{locked}</p> : null}
      </div>
    </Form>
  );
}
