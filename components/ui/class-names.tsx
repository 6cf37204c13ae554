import { cx } from 'class-variance-authority';
import { twMerge } from 'tailwind-merge';

/** Joins class names; if two set the same property, the later one wins. */
export function classNames(...parts: Parameters<typeof cx>): string {
  return twMerge(cx(...parts));
}
