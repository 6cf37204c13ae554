'use client';

import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { FormAnswer } from '#components/form/answer';
import type { SnippetFacts } from '#components/keys/snippets';
import type { FormField } from '#lib/console/form';

interface OneKey {
  readonly id: string;
}
type NewSecret = FormAnswer<{ id: string; key: string }>;
type Change<Input = OneKey> = (workspace: string, input: Input) => Promise<FormAnswer<unknown>>;

export interface KeyActions {
  create(workspace: string, input: unknown): Promise<NewSecret>;
  rotate(workspace: string, input: OneKey & { overlapSeconds: string }): Promise<NewSecret>;
  readonly set: Change<OneKey & Readonly<Record<string, unknown>>>;
  readonly enable: Change;
  readonly disable: Change;
  readonly restore: Change;
  readonly revoke: Change;
  readonly endOverlap: Change;
  /** The same change of many keys. */
  each(
    workspace: string,
    input: { readonly change: string; readonly inputs: readonly OneKey[] },
  ): Promise<FormAnswer<{ readonly failed: readonly { readonly at: number; readonly message: string }[] }>>;
}

/** What every dialog about keys needs from its page. */
interface KeyPage {
  readonly actions: KeyActions;
  /** Slug. */
  readonly workspace: string;
  /** Why nothing can be changed here; null if it can. */
  readonly locked: string | null;
  /** The settings of a key. */
  readonly fields: readonly FormField[];
  /** Every model of the catalogue. */
  readonly models: readonly string[];
  readonly facts: SnippetFacts;
}

const KeyPageContext = createContext<KeyPage | null>(null);

/** No answer came (network down, a restart, a newer console): the form stays open and says what to do. */
export const unheard = {
  ok: false,
  message:
    'No response from the gateway. Reload the page to see whether the change was made, then try again.',
  field: null,
  signedOut: false,
} as const;

function heard<Input, Value>(action: (workspace: string, input: Input) => Promise<FormAnswer<Value>>) {
  return (workspace: string, input: Input): Promise<FormAnswer<Value>> =>
    action(workspace, input).catch(() => unheard);
}

export function KeyPageProvider({ children, actions, ...page }: KeyPage & { children: ReactNode }) {
  const answered = useMemo<KeyActions>(
    () => ({
      create: heard(actions.create),
      rotate: heard(actions.rotate),
      set: heard(actions.set),
      enable: heard(actions.enable),
      disable: heard(actions.disable),
      restore: heard(actions.restore),
      revoke: heard(actions.revoke),
      endOverlap: heard(actions.endOverlap),
      each: heard(actions.each),
    }),
    [actions],
  );
  return <KeyPageContext value={{ ...page, actions: answered }}>{children}</KeyPageContext>;
}

/** @throws Error outside a KeyPageProvider. */
export function useKeyPage(): KeyPage {
  const page = useContext(KeyPageContext);
  if (!page) throw new Error('useKeyPage must be used inside a KeyPageProvider');
  return page;
}
