'use client';

import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import type { BaseUIEvent } from '@base-ui/react/types';
import { Search } from 'lucide-react';
import { type FocusEvent, type KeyboardEvent, useState } from 'react';
import { type Entry, type EntryGroup, isLikelyId } from '#components/palette/entries';
import { type PaletteProps, useEntries } from '#components/palette/use-entries';
import { itemStyle } from '#components/ui/popup-style';
import { hasWords } from '#lib/console/has-words';
import type { TypedAhead } from '#lib/console/typed-ahead';

const mostShown = 60;
const enterKey = { key: 'Enter', bubbles: true, cancelable: true };

interface SearchProps extends PaletteProps {
  /** What was typed since the palette was asked for; from now on, the input has the focus. */
  takeTyped(): TypedAhead;
}

/** Search over pages, keys, models, workspaces and themes, and calls by any of their ids. */
export function Palette(props: SearchProps) {
  const { open, onOpenChange } = props;
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/45 transition-opacity duration-100 data-[closed]:pointer-events-none data-[ending-style]:opacity-0 data-[starting-style]:opacity-0" />
        <Dialog.Popup
          aria-label="Search and commands"
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-surface shadow-pop outline-none transition-opacity duration-100 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0"
        >
          <PaletteBody {...props} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function textOf({ label, hint = '', also = '' }: Entry): string {
  return `${label} ${hint} ${also}`;
}

function PaletteBody(props: SearchProps) {
  const [text, setText] = useState('');
  const { groups, notice, find } = useEntries(props, text.trim());

  /** Enter right after a paste arrives before the list has changed. */
  function enter(event: BaseUIEvent<KeyboardEvent<HTMLInputElement>>) {
    const value = event.currentTarget.value.trim();
    if (event.key !== 'Enter' || !isLikelyId(value)) return;
    event.preventBaseUIHandler();
    event.preventDefault();
    find(value);
  }

  function takeOver({ currentTarget: input }: FocusEvent<HTMLInputElement>) {
    const typed = props.takeTyped();
    if (typed.text === '') return;
    setText((before) => before + typed.text);
    // The list has to show its entries before one of them can be chosen.
    if (typed.entered)
      setTimeout(() => input.dispatchEvent(new window.KeyboardEvent('keydown', enterKey)), 50);
  }

  return (
    <Autocomplete.Root
      open
      inline
      items={groups}
      value={text}
      onValueChange={setText}
      autoHighlight="always"
      keepHighlight
      limit={mostShown}
      filter={(entry: Entry, sought) => hasWords(textOf(entry), sought)}
      itemToStringValue={textOf}
    >
      <div className="flex items-center gap-3 border-b px-4">
        <Search aria-hidden className="size-4 shrink-0 text-muted" />
        <Autocomplete.Input
          aria-label="Search or paste a request id"
          placeholder="Search, or paste a request id"
          maxLength={200}
          spellCheck={false}
          onKeyDown={enter}
          onFocus={takeOver}
          className="h-12 min-w-0 flex-1 bg-transparent text-base outline-none placeholder:text-muted"
        />
      </div>
      <p role="status" className={notice ? 'border-b px-4 py-2.5 text-muted' : 'sr-only'}>
        {notice}
      </p>
      <Autocomplete.Empty className="px-4 py-8 text-center text-muted empty:hidden">
        No results.
      </Autocomplete.Empty>
      <Autocomplete.List className="max-h-[min(24rem,60vh)] overflow-y-auto overscroll-contain p-1.5 empty:hidden">
        {(group: EntryGroup) => (
          <Autocomplete.Group key={group.label} items={group.items} className="pb-1.5">
            <Autocomplete.GroupLabel className="px-2 py-1 text-muted text-xs">
              {group.label}
            </Autocomplete.GroupLabel>
            <Autocomplete.Collection>
              {(entry: Entry) => (
                <Autocomplete.Item key={entry.value} value={entry} onClick={entry.run} className={itemStyle}>
                  {entry.icon}
                  <span dir="auto" className="min-w-0 truncate" title={entry.label}>
                    {entry.label}
                  </span>
                  {entry.hint ? (
                    <span className="ml-auto max-w-[45%] truncate text-muted text-xs">{entry.hint}</span>
                  ) : null}
                </Autocomplete.Item>
              )}
            </Autocomplete.Collection>
          </Autocomplete.Group>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}
