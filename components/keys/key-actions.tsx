'use client';

import { createContext, type ReactNode, useContext } from 'react';

/** How a server action answers; the page gives the actions, so that components know no server. */
type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly message: string; readonly field: string | null };

export interface KeyActions {
  create(workspace: string, input: unknown): Promise<Answer<{ id: string; key: string }>>;
  enable(workspace: string, input: { id: string }): Promise<Answer<unknown>>;
  disable(workspace: string, input: { id: string }): Promise<Answer<unknown>>;
  revoke(workspace: string, input: { id: string }): Promise<Answer<unknown>>;
}

const KeyActionsContext = createContext<KeyActions | null>(null);

export function KeyActionsProvider({ actions, children }: { actions: KeyActions; children: ReactNode }) {
  return <KeyActionsContext value={actions}>{children}</KeyActionsContext>;
}

/** @throws Error outside a KeyActionsProvider. */
export function useKeyActions(): KeyActions {
  const actions = useContext(KeyActionsContext);
  if (!actions) throw new Error('key actions are given by the page');
  return actions;
}
