'use client';

import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/**
 * The text of a controlled input. It starts with text typed before hydration: React leaves that in the input
 * without an event, and overwrites it on the next render.
 * @returns the text, its setter, and the input's `ref`.
 */
export function useTyped<Box extends HTMLInputElement | HTMLTextAreaElement>(
  initial: string,
): [text: string, setText: (text: string) => void, box: RefObject<Box | null>] {
  const [text, setText] = useState(initial);
  const box = useRef<Box>(null);
  useLayoutEffect(() => {
    if (box.current) setText(box.current.value);
  }, []);
  return [text, setText, box];
}
