'use client';

import { RefreshCw } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { Button } from '#components/ui/button';
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
          if (!answer.ok) toast.error(answer.message);
          else if (answer.value.failures.length > 0) toast.error('Not every price table could be read');
          else toast.success('Price tables read');
          router.refresh();
        })
      }
    >
      <RefreshCw className={pending ? 'animate-spin motion-reduce:animate-none' : ''} />
      {pending ? 'Reading…' : 'Check now'}
    </Button>
  );
}
