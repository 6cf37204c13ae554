'use client';

import { type RefObject, useEffect, useRef } from 'react';

/**
 * The `ref` of a box that keeps what is typed by itself, and shows another text when `value` becomes another one: after
 * Back, or when it was cleared. A new box in its place would lose the focus.
 */
export function useShown(value: string | null): RefObject<HTMLInputElement | null> {
  const box = useRef<HTMLInputElement>(null);
  const shown = useRef(value);
  useEffect(() => {
    // What was typed before the scripts were there stays.
    if (shown.current === value) return;
    shown.current = value;
    if (box.current) box.current.value = value ?? '';
  }, [value]);
  return box;
}
