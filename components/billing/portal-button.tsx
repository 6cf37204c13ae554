'use client';

import { useTransition } from 'react';
import { useLeadTo } from '#components/billing/use-lead-to';
import { orNoAnswer, type Send } from '#components/form/answer';
import { Button } from '#components/ui/button';
import { toast } from '#components/ui/toaster';

/** Opens the Stripe page with cards, billing details and invoices. */
export function PortalButton({ workspace, open }: { workspace: string; open: Send<{ url: string }> }) {
  const [asking, startTransition] = useTransition();
  const { leading, leadTo } = useLeadTo();
  const pending = asking || leading;
  function go() {
    startTransition(async () => {
      const answer = await orNoAnswer(open(workspace, {}));
      if (answer.ok) leadTo(answer.value.url);
      else toast.error(answer.message);
    });
  }
  return (
    <Button size="small" onClick={go} disabled={pending}>
      {pending ? 'Opening…' : 'Cards and invoices'}
    </Button>
  );
}
