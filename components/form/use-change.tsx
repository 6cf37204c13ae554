'use client';

import { useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { toast } from '#components/ui/toaster';

/**
 * Makes a change that one press asks for, says how it ended, and shows the page as it is then.
 * @returns whether one is under way, and what makes one; `done` is said when it was made.
 */
export function useChange(): {
  pending: boolean;
  make(change: Promise<FormAnswer<unknown>>, done: string): void;
} {
  const router = useRouter();
  const [pending, startTransition] = useTransition();
  return {
    pending,
    make: (change, done) =>
      startTransition(async () => {
        const answer = await change.catch(() => null);
        if (answer?.ok) toast.success(done);
        else toast.error(answer?.message ?? noAnswer);
        // Without an answer the browser would leave the page, for one of its own.
        if (answer) router.refresh();
      }),
  };
}
