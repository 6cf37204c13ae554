'use client';

import { type RefObject, useEffect, useRef } from 'react';

/**
 * The `ref` of an uncontrolled input that shows the new `value` when it changes, such as after Back or when
 * it was cleared. Remounting the input would lose the focus.
 */
export function useShown(value: string | null): RefObject<HTMLInputElement | null> {
  const box = useRef<HTMLInputElement>(null);
  const shown = useRef(value);
  useEffect(() => {
    // Keeps text typed before hydration.
    if (shown.current === value) return;
    shown.current = value;
    if (box.current) box.current.value = value ?? '';
  }, [value]);
  return box;
}
