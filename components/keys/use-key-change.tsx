'use client';

import { useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { signInAddress } from '#components/account/sign-in-again';
import { unheard, useKeyPage } from '#components/keys/key-actions';
import type { KeyRow } from '#components/keys/key-row';
import { toast } from '#components/ui/toaster';

type Verb = 'enable' | 'disable' | 'restore' | 'endOverlap';

const done: Record<Verb, (name: string) => string> = {
  enable: (name) => `${name} enabled`,
  disable: (name) => `${name} disabled`,
  restore: (name) => `${name} restored`,
  endOverlap: (name) => `The old secret of ${name} no longer works`,
};

/** Changes to a key that need no form: made immediately, confirmed by a toast, with Undo where possible. */
export function useKeyChange({ id, name }: Pick<KeyRow, 'id' | 'name'>) {
  const { actions, workspace } = useKeyPage();
  const router = useRouter();
  const [pending, startTransition] = useTransition();

  function change(verb: Verb) {
    startTransition(async () => {
      const answer = await actions[verb](workspace, { id });
      if (answer.ok) {
        const undo = verb === 'disable' ? { label: 'Undo', onClick: () => change('enable') } : undefined;
        toast.success(done[verb](name), {
          description: 'It applies within 2 seconds.',
          ...(undo ? { action: undo } : {}),
        });
      } else if (answer.signedOut) {
        const signIn = { label: 'Sign in', onClick: () => window.location.assign(signInAddress()) };
        toast.error(answer.message, { action: signIn, duration: Number.POSITIVE_INFINITY });
        return;
      } else {
        toast.error(answer.message);
      }
      // Also after an error: the page may show an outdated state of the key. Without an answer, the browser
      // would replace the page with its own error page.
      if (answer !== unheard) router.refresh();
    });
  }
  return { change, pending };
}
