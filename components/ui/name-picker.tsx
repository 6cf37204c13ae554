'use client';

import { type ComponentProps, type ComponentType, useEffect, useEffectEvent, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { NameBox } from '#components/ui/name-box';
import { NameBoxFrame, type NamePickerProps, nameBoxStyle } from '#components/ui/name-box-frame';
import { untilLoaded } from '#components/ui/until-loaded';

interface Loaded {
  readonly Box: ComponentType<ComponentProps<typeof NameBox>>;
  readonly focused: boolean;
  readonly startOpen: boolean;
}

/**
 * An input that finds a name among many; selecting one adds it and clears the input. The list's script is
 * loaded when the input gets the focus; text typed until then is kept.
 */
export function NamePicker(props: NamePickerProps) {
  const [text, setText] = useState('');
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const plain = useRef<HTMLInputElement>(null);
  const pressed = useRef(false);

  async function load() {
    const { NameBox: Box } = await untilLoaded(() => import('#components/ui/name-box'));
    const focused = plain.current === document.activeElement;
    // Now, because the focus may have moved on by the time of a later render, and would be pulled back.
    flushSync(() => setLoaded({ Box, focused, startOpen: pressed.current }));
  }
  const loadForEarly = useEffectEvent(() => {
    if (plain.current === null || plain.current !== document.activeElement) return;
    setText(plain.current.value);
    void load();
  });
  // For an input that was focused before hydration.
  useEffect(() => loadForEarly(), []);

  if (loaded) {
    const { Box, ...begin } = loaded;
    return <Box {...props} {...begin} typed={text} />;
  }
  return (
    <NameBoxFrame filter={props.shown !== undefined}>
      <input
        ref={plain}
        role="combobox"
        aria-expanded={false}
        aria-haspopup="listbox"
        aria-autocomplete="list"
        aria-label={props.shown?.chosen ? `${props.label}: ${props.shown.text}` : props.label}
        placeholder={props.shown?.text ?? props.label}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onPointerDown={() => {
          pressed.current = true;
        }}
        onFocus={() => void load()}
        className={nameBoxStyle(props)}
      />
    </NameBoxFrame>
  );
}
