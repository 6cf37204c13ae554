'use client';

import { Combobox } from '@base-ui/react/combobox';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { classNames } from '#components/ui/class-names';
import { inputStyle } from '#components/ui/input';
import { itemStyle, popupStyle } from '#components/ui/popup-style';

interface NamePickerProps {
  /** What choosing does: "Add a fallback model". */
  label: string;
  /** Those that may still be chosen. */
  names: readonly string[];
  onPick(name: string): void;
}

const mostShown = 60;

/** A box that finds a name among many; choosing one adds it and empties the box. */
export function NamePicker({ label, names, onPick }: NamePickerProps) {
  const [text, setText] = useState('');
  return (
    <Combobox.Root
      items={names}
      limit={mostShown}
      value={null}
      autoHighlight
      inputValue={text}
      onInputValueChange={(next, { reason }) => setText(reason === 'item-press' ? '' : next)}
      onValueChange={(name: string | null) => {
        if (name !== null) onPick(name);
        setText('');
      }}
    >
      <div className="relative">
        <Plus aria-hidden className="absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-muted" />
        <Combobox.Input
          aria-label={label}
          placeholder={label}
          spellCheck={false}
          className={classNames(inputStyle, 'h-8 border-dashed pl-8 text-[0.8125rem]')}
        />
      </div>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={6} align="start" className="z-60 outline-none">
          <Combobox.Popup className={classNames(popupStyle, 'w-(--anchor-width) min-w-56')}>
            <Combobox.Empty>
              <p className="px-2 py-1.5 text-muted text-xs empty:hidden">
                Nothing in the catalogue has this name.
              </p>
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
