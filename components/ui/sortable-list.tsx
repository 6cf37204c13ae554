'use client';

import { GripVertical, X } from 'lucide-react';
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { buttonStyle } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';
import { handFocusOn } from '#components/ui/hand-focus-on';

interface SortableListProps {
  /** Accessible name of the list. */
  label: string;
  /** Must be unique. */
  items: readonly string[];
  onChange(items: readonly string[]): void;
  /** Number of the first item. */
  from?: number;
  /** Shown below an item: what is wrong with it, or what it is. */
  note?(item: string, index: number): ReactNode;
}

/** A list whose order matters: items are moved by dragging their handles, or with the arrow keys on them. */
export function SortableList({ label, items, onChange, from = 1, note }: SortableListProps) {
  const list = useRef<HTMLOListElement>(null);
  const [dragged, setDragged] = useState<string | null>(null);
  const [said, setSaid] = useState('');
  const [focused, setFocused] = useState<string | null>(null);
  const hint = useId();

  // Moving an element loses its focus.
  useEffect(() => {
    const handle = [...(list.current?.querySelectorAll('button[data-handle]') ?? [])].at(
      focused === null ? -1 : items.indexOf(focused),
    );
    if (focused !== null && handle instanceof HTMLElement) handle.focus();
    setFocused(null);
  }, [focused, items]);

  function move(item: string, to: number) {
    const place = Math.max(0, Math.min(items.length - 1, to));
    if (items[place] === item) return;
    const rest = items.filter((one) => one !== item);
    onChange([...rest.slice(0, place), item, ...rest.slice(place)]);
    setSaid(`${item} is number ${place + from} of ${items.length + from - 1}`);
  }

  function press(event: KeyboardEvent, item: string, index: number) {
    const steps: Readonly<Record<string, number>> = {
      ArrowUp: index - 1,
      ArrowDown: index + 1,
      Home: 0,
      End: items.length - 1,
    };
    const to = steps[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(item, to);
    setFocused(item);
  }

  function drag(event: PointerEvent, item: string) {
    if (event.button !== 0) return;
    setDragged(item);
    const rows = [...(list.current?.children ?? [])].map((row) => row.getBoundingClientRect());
    const order = [...items];
    const follow = ({ clientY }: globalThis.PointerEvent) => {
      const to = rows.findIndex(({ bottom }) => clientY < bottom);
      const place = to < 0 ? order.length - 1 : to;
      if (order[place] === item) return;
      order.splice(order.indexOf(item), 1);
      order.splice(place, 0, item);
      onChange([...order]);
      setSaid(`${item} is number ${place + from} of ${order.length + from - 1}`);
    };
    const end = () => {
      setDragged(null);
      window.removeEventListener('pointermove', follow);
      window.removeEventListener('pointerup', end);
      window.removeEventListener('pointercancel', end);
    };
    window.addEventListener('pointermove', follow);
    window.addEventListener('pointerup', end);
    window.addEventListener('pointercancel', end);
  }

  return (
    <>
      <ol ref={list} aria-label={label} className="grid gap-1.5">
        {items.map((item, index) => (
          <li
            key={item}
            data-item
            className={classNames(
              'flex min-w-0 items-center gap-1.5 rounded-md border bg-surface py-1 pr-1 pl-0.5',
              dragged === item && 'border-accent bg-accent-soft shadow-pop',
            )}
          >
            <button
              type="button"
              data-handle
              aria-label={`Move ${item}, number ${index + from}`}
              aria-describedby={hint}
              onKeyDown={(event) => press(event, item, index)}
              onPointerDown={(event) => drag(event, item)}
              className="grid size-7 shrink-0 cursor-grab touch-none place-items-center rounded text-muted hover:bg-hover hover:text-ink active:cursor-grabbing"
            >
              <GripVertical aria-hidden className="size-3.5" />
            </button>
            <span aria-hidden className="w-4 shrink-0 text-muted text-xs tabular-nums">
              {index + from}
            </span>
            <span className="min-w-0 flex-1">
              <span className="block break-all font-mono text-[0.8125rem] leading-5">{item}</span>
              {note?.(item, index)}
            </span>
            <button
              type="button"
              data-removes
              aria-label={`Remove ${item}`}
              onClick={(event) => {
                handFocusOn(event.currentTarget);
                onChange(items.filter((one) => one !== item));
              }}
              className={buttonStyle({ tone: 'quiet', size: 'smallIcon' })}
            >
              <X />
            </button>
          </li>
        ))}
      </ol>
      <p id={hint} hidden>
        Use the arrow keys to move it up and down.
      </p>
      <p role="status" className="sr-only">
        {said}
      </p>
    </>
  );
}
