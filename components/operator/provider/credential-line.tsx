'use client';

import { useRouter } from 'next/navigation';
import { useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import {
  type CredentialRow,
  outcomeText,
  type ProviderRow,
  type TestedProvider,
} from '#lib/console/gateway/provider';

interface CredentialLineProps {
  provider: Pick<ProviderRow, 'id' | 'name'>;
  credential: CredentialRow;
  test(input: { provider: string; name: string }): Promise<FormAnswer<TestedProvider>>;
  onEdit(): void;
}

/** A credential with its state, and a test that shows how it ended. */
export function CredentialLine({ provider, credential, test, onEdit }: CredentialLineProps) {
  const { name, state, text, share, why } = credential;
  const router = useRouter();
  /** Of the last test, until the state of the credential says something else. */
  const [told, tell] = useState<{
    readonly ok: boolean;
    readonly text: string;
    readonly state: string;
  } | null>(null);
  const [pending, startTransition] = useTransition();
  const isMissing = !credential.given && state.text === 'Missing';
  const spoken = `credential ${name} of ${provider.name}`;
  function press() {
    startTransition(async () => {
      const answer = await test({ provider: provider.id, name }).catch(() => null);
      const shown = { state: state.text };
      if (answer?.ok)
        tell(answer.value.outcome?.ok ? { ...shown, ok: true, text: outcomeText(answer.value) } : null);
      else tell({ ...shown, ok: false, text: answer?.message ?? noAnswer });
      if (answer) router.refresh();
    });
  }
  return (
    <li className="flex items-start justify-between gap-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <Badge tone={state.tone} dot={state.tone !== 'outline'}>
            {state.text}
          </Badge>
          <span className="font-medium text-[0.8125rem]">{name}</span>
          <span className="font-mono text-xs [overflow-wrap:anywhere]">{text}</span>
        </p>
        {state.note ? (
          <span
            className={`mt-1 block text-xs leading-4 [overflow-wrap:anywhere] ${state.tone === 'bad' ? 'text-bad' : 'text-muted'}`}
          >
            {state.note}
          </span>
        ) : null}
        {share ? <span className="mt-1 block text-muted text-xs leading-4">{share}</span> : null}
        {why ? <span className="mt-1 block text-muted text-xs leading-4">{why}</span> : null}
        <p aria-live="polite" className="empty:hidden">
          {told?.state === state.text ? (
            <span className={`mt-1 block max-w-96 text-xs leading-4 ${told.ok ? 'text-good' : 'text-bad'}`}>
              {told.text}
            </span>
          ) : null}
        </p>
      </div>
      <span className="flex gap-2">
        <Button size="small" aria-label={`${isMissing ? 'Set' : 'Edit'} ${spoken}`} onClick={onEdit}>
          {isMissing ? 'Set' : 'Edit'}
        </Button>
        <Button
          size="small"
          className={isMissing ? 'invisible' : undefined}
          title="Makes one call to the cheapest offer, at your expense"
          tone={state.text === 'Not tested' ? 'primary' : 'plain'}
          disabled={pending}
          onClick={press}
        >
          {pending ? 'Testing…' : 'Test'}
          <span className="sr-only"> {spoken}</span>
        </Button>
      </span>
    </li>
  );
}
