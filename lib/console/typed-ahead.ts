/** What was pressed before the input for it was there. */
export interface TypedAhead {
  readonly text: string;
  /** Enter was pressed: what follows belongs to the page that it leads to, and is not kept. */
  readonly entered: boolean;
}

export const nothingTyped: TypedAhead = { text: '', entered: false };

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** Adds a key to what was typed ahead. @returns null: it is not for an input, such as a shortcut or an arrow. */
export function typeAhead(before: TypedAhead, { key, ctrlKey, metaKey, altKey }: Key): TypedAhead | null {
  if (ctrlKey || metaKey || altKey) return null;
  if (key === 'Enter') return { ...before, entered: before.text !== '' };
  if (key === 'Backspace') return { ...before, text: [...before.text].slice(0, -1).join('') };
  // The names of other keys have several letters.
  if ([...key].length !== 1) return null;
  return before.entered ? before : { ...before, text: before.text + key };
}
