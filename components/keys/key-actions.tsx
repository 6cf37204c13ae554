'use client';

import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { Answer } from '#components/form/answer';

export interface KeyActions {
  create(workspace: string, input: unknown): Promise<Answer<{ id: string; key: string }>>;
  enable(workspace: string, input: { id: string }): Promise<Answer<unknown>>;
  disable(workspace: string, input: { id: string }): Promise<Answer<unknown>>;
  revoke(workspace: string, input: { id: string }): Promise<Answer<unknown>>;
}

const KeyActionsContext = createContext<KeyActions | null>(null);

/** No answer came (no network, a restart, a newer console): the form stays, and says what to do. */
const unheard = {
  ok: false,
  message:
    'No answer came, so this may have been done or not. Reload the page and look before you try again.',
  field: null,
  signedOut: false,
} as const;

export function KeyActionsProvider({ actions, children }: { actions: KeyActions; children: ReactNode }) {
  const { create, enable, disable, revoke } = actions;
  const answered = useMemo<KeyActions>(
    () => ({
      create: (workspace, input) => create(workspace, input).catch(() => unheard),
      enable: (workspace, input) => enable(workspace, input).catch(() => unheard),
      disable: (workspace, input) => disable(workspace, input).catch(() => unheard),
      revoke: (workspace, input) => revoke(workspace, input).catch(() => unheard),
    }),
    [create, enable, disable, revoke],
  );
  return <KeyActionsContext value={answered}>{children}</KeyActionsContext>;
}

/** @throws Error outside a KeyActionsProvider. */
export function useKeyActions(): KeyActions {
  const actions = useContext(KeyActionsContext);
  if (!actions) throw new Error('key actions are given by the page');
  return actions;
}
