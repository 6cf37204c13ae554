'use client';

import { Combobox } from '@base-ui/react/combobox';
import { useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { classNames } from '#components/ui/class-names';
import { NameBoxFrame, type NamePickerProps, nameBoxStyle } from '#components/ui/name-box-frame';
import { itemStyle, popupStyle } from '#components/ui/popup-style';

interface NameBoxProps extends NamePickerProps {
  /** Text typed into the input that this one replaces. */
  typed: string;
  /** Whether that input had the focus. */
  focused: boolean;
  /** Whether the list is open when it first appears. */
  startOpen: boolean;
}

const mostShown = 60;

/** The input of a NamePicker with its list. */
export function NameBox({ label, names, onPick, typed, focused, startOpen }: NameBoxProps) {
  const [text, setText] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const begin = useEffectEvent(() => {
    if (focused) input.current?.focus();
    // Runs before the next key event, and outside of React's effects.
    if (typed !== '') queueMicrotask(() => input.current && type(input.current, typed));
  });
  useLayoutEffect(() => begin(), []);
  return (
    <Combobox.Root
      items={names}
      limit={mostShown}
      value={null}
      autoHighlight
      defaultOpen={startOpen}
      inputValue={text}
      onInputValueChange={(next, { reason }) => setText(reason === 'item-press' ? '' : next)}
      onValueChange={(name: string | null) => {
        if (name !== null) onPick(name);
        setText('');
      }}
    >
      <NameBoxFrame>
        <Combobox.Input
          ref={input}
          aria-label={label}
          placeholder={label}
          spellCheck={false}
          className={nameBoxStyle}
        />
      </NameBoxFrame>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={6} align="start" className="z-60 outline-none">
          <Combobox.Popup className={classNames(popupStyle, 'w-(--anchor-width) min-w-56')}>
            <Combobox.Empty>
              <p className="px-2 py-1.5 text-muted text-xs empty:hidden">Not in the catalogue.</p>
            </Combobox.Empty>
            <Combobox.List className="max-h-64 overflow-y-auto">
              {(name: string) => (
                <Combobox.Item key={name} value={name} className={itemStyle}>
                  <span className="min-w-0 break-all font-mono text-[0.8125rem]">{name}</span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

/** Simulates typing: the list opens, is filtered and highlights its first name. */
function type(input: HTMLInputElement, text: string): void {
  // React overrides the `value` setter and would miss the change.
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, text);
  input.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText' }));
}
