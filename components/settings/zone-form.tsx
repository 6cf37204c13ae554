'use client';

import { useRouter } from 'next/navigation';
import { useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { NativeSelect } from '#components/ui/native-select';
import { toast } from '#components/ui/toaster';

interface ZoneFormProps {
  workspace: string;
  zone: string;
  /** Each label has the current offset. */
  zones: readonly { readonly value: string; readonly label: string }[];
  locked: boolean;
  send(workspace: string, input: Readonly<Record<string, unknown>>): Promise<FormAnswer<unknown>>;
}

/** The time zone in which days begin; typing a name selects it. */
export function ZoneForm({ workspace, zone, zones, locked, send }: ZoneFormProps) {
  const router = useRouter();
  const [chosen, setChosen] = useState(zone);
  const [pending, startTransition] = useTransition();

  function choose(next: string) {
    if (locked || pending) return;
    setChosen(next);
    startTransition(async () => {
      const answer = await send(workspace, { timeZone: next }).catch(() => null);
      if (answer?.ok) toast.success(`Time zone changed to ${next}`);
      else {
        setChosen(zone);
        toast.error(answer?.message ?? noAnswer);
      }
      if (answer) router.refresh();
    });
  }

  return (
    <div className="grid gap-1.5 p-4 sm:max-w-[50%]">
      <NativeSelect label="Time zone" value={chosen} options={zones} onChange={choose} />
      <p className="text-[0.8125rem] text-muted leading-5">
        Days start at midnight in this time zone: in caps, usage, the log and exported files.
      </p>
    </div>
  );
}
