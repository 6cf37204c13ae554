'use client';

import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/**
 * The text of a box that React controls. It begins with what was typed before the scripts were there: React leaves that
 * in the box, tells nobody, and overwrites it when it next renders.
 * @returns the text, what sets it, and the box's `ref`.
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
