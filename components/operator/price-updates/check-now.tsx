'use client';

import { RefreshCw } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState, useTransition } from 'react';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { Button } from '#components/ui/button';
import { Checkbox } from '#components/ui/checkbox';
import { toast } from '#components/ui/toaster';

interface CheckNowProps {
  update(): Promise<FormAnswer<{ accepted: number; failures: readonly string[] }>>;
}

/** Reads the tables; the page then shows what they propose, or why they could not be read. */
export function CheckNow({ update }: CheckNowProps) {
  const router = useRouter();
  const [pending, startTransition] = useTransition();
  return (
    <Button
      tone="primary"
      disabled={pending}
      onClick={() =>
        startTransition(async () => {
          const answer = await orNoAnswer(update());
          if (!answer.ok) toast({ title: answer.message, tone: 'bad' });
          else if (answer.value.failures.length > 0)
            toast({ title: 'Not every price table could be read', tone: 'bad' });
          else toast({ title: 'Price tables read' });
          router.refresh();
        })
      }
    >
      <RefreshCw className={pending ? 'animate-spin motion-reduce:animate-none' : ''} />
      {pending ? 'Reading…' : 'Check now'}
    </Button>
  );
}

interface DailyCheckProps {
  daily: boolean;
  set(input: { daily: boolean }): Promise<FormAnswer<unknown>>;
}

/** Whether the tables are read every day; saved at once. */
export function DailyCheck({ daily, set }: DailyCheckProps) {
  const [checked, check] = useState(daily);
  const [, startTransition] = useTransition();
  return (
    <Checkbox
      checked={checked}
      onChange={(next) => {
        check(next);
        startTransition(async () => {
          const answer = await orNoAnswer(set({ daily: next }));
          if (answer.ok) return;
          check(!next);
          toast({ title: answer.message, tone: 'bad' });
        });
      }}
    >
      Check every day
    </Checkbox>
  );
}
