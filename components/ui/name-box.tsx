'use client';

import { Combobox } from '@base-ui/react/combobox';
import { useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { classNames } from '#components/ui/class-names';
import { NameBoxFrame, type NamePickerProps, nameBoxStyle, type Option } from '#components/ui/name-box-frame';
import { itemStyle, popupStyle } from '#components/ui/popup-style';
import { rankOf } from '#lib/console/search-rank';

interface NameBoxProps extends NamePickerProps {
  /** Text typed into the input that this one replaces. */
  typed: string;
  /** Whether that input had the focus. */
  focused: boolean;
  /** Whether the list is open when it first appears. */
  startOpen: boolean;
}

const mostShown = 60;
/** Between the last key and the question what it finds. */
const findAfterMs = 150;

/** The box of a NamePicker with its list. */
export function NameBox({ label, names, shown, none, onPick, typed, focused, startOpen }: NameBoxProps) {
  const [text, setText] = useState('');
  const options = useOptions(names, text);
  const input = useRef<HTMLInputElement>(null);
  const begin = useEffectEvent(() => {
    if (focused) input.current?.focus();
    // Runs before the next key event, and outside of React's effects.
    if (typed !== '') queueMicrotask(() => input.current && type(input.current, typed));
  });
  useLayoutEffect(() => begin(), []);
  return (
    <Combobox.Root
      items={options}
      {...(typeof names === 'function' ? { filter: null } : {})}
      limit={mostShown}
      value={null}
      autoHighlight
      defaultOpen={startOpen}
      inputValue={text}
      onInputValueChange={(next, { reason }) => setText(reason === 'item-press' ? '' : next)}
      onValueChange={(option: Option | null) => {
        if (option !== null) onPick(option.value);
        setText('');
      }}
    >
      <NameBoxFrame filter={shown !== undefined}>
        <Combobox.Input
          ref={input}
          aria-label={shown?.chosen ? `${label}: ${shown.text}` : label}
          placeholder={shown?.text ?? label}
          spellCheck={false}
          className={nameBoxStyle({ ...(shown ? { shown } : {}) })}
        />
      </NameBoxFrame>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={6} align="start" className="z-60 outline-none">
          <Combobox.Popup className={classNames(popupStyle, 'w-(--anchor-width) min-w-56')}>
            <Combobox.Empty>
              <p className="px-2 py-1.5 text-muted text-xs empty:hidden">{none ?? 'Not in the catalogue.'}</p>
            </Combobox.Empty>
            <Combobox.List className="max-h-64 overflow-y-auto">
              {(option: Option) => (
                <Combobox.Item key={option.value} value={option} className={itemStyle}>
                  <span
                    className={classNames(
                      'min-w-0 [overflow-wrap:anywhere]',
                      option.label === option.value && 'font-mono text-[0.8125rem]',
                    )}
                  >
                    {option.label}
                  </span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

/** What the list offers: the names, those first that fit a text best, or what is found for a text; the last answer stays until the next one is there. */
function useOptions(names: NamePickerProps['names'], text: string): readonly Option[] {
  const [found, setFound] = useState<readonly Option[]>([]);
  const find = useEffectEvent((asked: string) => (typeof names === 'function' ? names(asked) : null));
  useEffect(() => {
    let over = false;
    const timer = setTimeout(() => {
      void find(text)?.then(
        (options) => (over ? undefined : setFound(options)),
        () => undefined,
      );
    }, findAfterMs);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [text]);
  if (typeof names === 'function') return found;
  return names
    .map((name) => ({ value: name, label: name, rank: rankOf(name, text) }))
    .sort((one, other) => one.rank - other.rank);
}

/** As if somebody typed it: the list opens, is narrowed and has its first name marked. */
function type(input: HTMLInputElement, text: string): void {
  // React overrides the `value` setter and would miss the change.
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, text);
  input.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText' }));
}
