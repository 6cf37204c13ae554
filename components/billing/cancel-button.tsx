'use client';

import { useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { toast } from '#components/ui/toaster';

export type CancelTopUp = (workspace: string, input: { id: string }) => Promise<FormAnswer<unknown>>;

interface CancelButtonProps {
  /** Slug. */
  workspace: string;
  id: string;
  cancel: CancelTopUp;
  label: string;
  /** The page to show afterwards; absent: the same. */
  then?: string;
}

/** Gives up a top-up that was not paid. */
export function CancelButton({ workspace, id, cancel, label, then }: CancelButtonProps) {
  const router = useRouter();
  const [pending, startTransition] = useTransition();
  function press() {
    startTransition(async () => {
      const answer = await cancel(workspace, { id }).catch(() => null);
      if (!answer?.ok) toast.error(answer?.message ?? noAnswer);
      else if (then) router.push(then);
      if (answer) router.refresh();
    });
  }
  return (
    <button
      type="button"
      disabled={pending}
      onClick={press}
      className="font-medium underline underline-offset-2 disabled:opacity-60"
    >
      {pending ? 'Canceling…' : label}
    </button>
  );
}
