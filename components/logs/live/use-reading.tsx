'use client';

import { type RefObject, useCallback, useEffect, useEffectEvent } from 'react';

const topPx = 80;

/**
 * Whether the user is reading a frame: the pointer or the focus is on it, or the page is scrolled.
 * @param onFree called when they stop.
 */
export function useReading(frame: RefObject<HTMLElement | null>, onFree: () => void): () => boolean {
  const free = useEffectEvent(onFree);
  const reading = useCallback(() => {
    const table = frame.current?.querySelector('table');
    const busy = table?.matches(':hover') || table?.contains(document.activeElement);
    return busy === true || window.scrollY > topPx;
  }, [frame]);
  useEffect(() => {
    const look = () => {
      if (!reading()) free();
    };
    const later = () => requestAnimationFrame(look);
    const element = frame.current;
    element?.addEventListener('pointerleave', later);
    element?.addEventListener('focusout', later);
    window.addEventListener('scroll', look, { passive: true });
    return () => {
      element?.removeEventListener('pointerleave', later);
      element?.removeEventListener('focusout', later);
      window.removeEventListener('scroll', look);
    };
  }, [frame, reading]);
  return reading;
}
