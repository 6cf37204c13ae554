'use client';

import { FlaskConical } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { Button } from '#components/ui/button';
import { toast } from '#components/ui/toaster';

interface DemoBannerProps {
  workspace: string;
  /** Only operators can remove it; null: the current user is not an operator. */
  remove:
    | ((workspace: string, input: Record<string, never>) => Promise<FormAnswer<{ calls: number }>>)
    | null;
}

/** Shown above every page of the demo workspace, so that its figures are not taken for real ones. */
export function DemoBanner({ workspace, remove }: DemoBannerProps) {
  const router = useRouter();
  const [pending, startTransition] = useTransition();

  function send() {
    startTransition(async () => {
      if (!remove) return;
      const answer = await orNoAnswer(remove(workspace, {}));
      if (!answer.ok) {
        toast.error(answer.message);
        return;
      }
      toast.success('Demo data removed', {
        description: `${answer.value.calls} sample calls were deleted.`,
      });
      router.push('/');
    });
  }

  return (
    <div
      role="note"
      className="flex print:mb-6 flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border bg-sunken/60 py-2 pr-2 pl-3 text-[0.8125rem] leading-5"
    >
      <FlaskConical aria-hidden className="size-4 shrink-0 text-muted" />
      <p className="min-w-0 flex-1 basis-60 text-muted">
        <strong className="font-medium text-ink">Demo data.</strong> These calls and amounts are samples. This
        workspace’s keys cannot make calls.
      </p>
      {remove ? (
        <Button size="small" onClick={send} disabled={pending}>
          {pending ? 'Removing…' : 'Remove demo data'}
        </Button>
      ) : null}
    </div>
  );
}
