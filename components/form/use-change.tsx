'use client';

import { useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { toast } from '#components/ui/toaster';

/**
 * Makes a change that takes one click, shows its result and refreshes the page.
 * @returns `pending`: whether a change is in progress; `make` waits for one and shows `done` on success.
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
        // Without an answer, the browser would replace the page with its own error page.
        if (answer) router.refresh();
      }),
  };
}
