'use client';

import { useSyncExternalStore } from 'react';

const never = () => () => undefined;

/** What the visitor's keyboard calls the key of shortcuts: "⌘" on Apple's, "Ctrl" on others and until it is known. */
export function useCommandKey(): '⌘' | 'Ctrl' {
  return useSyncExternalStore(
    never,
    () => (/Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'),
    () => 'Ctrl',
  );
}
