'use client';

import type { FormAnswer } from '#components/form/answer';
import { useChange } from '#components/form/use-change';
import { Section } from '#components/section';
import { Button } from '#components/ui/button';

interface SecretsSectionProps {
  /** Number of secrets sealed with ENCRYPTION_KEY. */
  current: number;
  /** Number of secrets sealed with a key of ENCRYPTION_KEY_OLD. */
  older: number;
  unreadable: readonly string[];
  rotate(input: object): Promise<FormAnswer<unknown>>;
}

/** Which keys sealed the stored secrets, with a button to seal them with the current one. */
export function SecretsSection({ current, older, unreadable, rotate }: SecretsSectionProps) {
  const { pending, make } = useChange();
  return (
    <Section title="Secrets at rest" note="Credentials and webhook secrets, AES-256-GCM">
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 px-4 py-3">
        <p className="max-w-2xl leading-5">
          <span className="tabular-nums">{current}</span> sealed with <code>ENCRYPTION_KEY</code>
          {older > 0 ? (
            <>
              , <span className="tabular-nums">{older}</span> with a key of <code>ENCRYPTION_KEY_OLD</code>,
              which is needed until they are sealed again.
            </>
          ) : (
            <span className="text-muted">
              . To change the key, restart with the new key, set the old one as{' '}
              <code>ENCRYPTION_KEY_OLD</code>, then rotate here.
            </span>
          )}
        </p>
        {older > 0 ? (
          <Button
            size="small"
            disabled={pending}
            onClick={() => make(rotate({}), 'Secrets sealed with ENCRYPTION_KEY')}
          >
            {pending ? 'Rotating…' : 'Rotate'}
          </Button>
        ) : null}
      </div>
      {unreadable.length > 0 ? (
        <p role="status" className="border-t px-4 py-3 text-bad leading-5 [overflow-wrap:anywhere]">
          None of this process’s keys can open these secrets. Set the key that sealed them, or store them
          again: {unreadable.join(', ')}.
        </p>
      ) : null}
    </Section>
  );
}
