'use client';

import { usePathname } from 'next/navigation';
import { useEffect } from 'react';

const stops =
  'a[href], button:not(:disabled), input:not([type="hidden"], :disabled), select, textarea, summary, [tabindex="0"]';
const popups = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]';

const openPopup = popups
  .split(', ')
  .map((one) => `${one}:not([data-closed])`)
  .join(', ');
/** After a removal, others have had the time to take the focus. */
const settlesMs = 150;

/** The path that was shown last, also by another frame; null: the page was just loaded. */
let shown: string | null = null;

/**
 * Keeps the place of users without a mouse. Another page begins at its main part. If what has the focus is removed, what
 * is nearest gets it, instead of the whole page. The button of a form that is refused passes it to the first field that
 * is wrong (contract: control-plane/keyboard-place).
 */
export function KeepFocus() {
  const path = usePathname();
  useEffect(() => {
    const watch = watchFocus();
    return () => watch.end();
  }, []);
  useEffect(() => {
    const arrived = shown !== null && shown !== path;
    shown = path;
    if (arrived) arrive();
  }, [path]);
  return null;
}

function arrive(): void {
  const active = document.activeElement;
  const main = document.querySelector('main');
  if (active && active !== main && main?.contains(active)) return;
  if (active?.closest(popups)?.matches(':not([data-closed])')) return;
  // Without scrolling: the position is the router's.
  main?.focus({ preventScroll: true });
}

function watchFocus(): { end(): void } {
  const active = document.activeElement;
  let last = active === document.body ? null : active;
  /** The last one that was in the page itself, to which a popup returns. */
  let inPage = active instanceof HTMLElement && !active.closest(popups) ? active : null;
  // A form may have been refused before this was loaded.
  refusedIn(active)?.focus();
  const focused = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement)) return;
    last = target;
    if (!target.closest(popups)) inPage = target;
  };
  const observer = new MutationObserver((records) => {
    const active = document.activeElement;
    const form = formOf(active);
    const marked = records.some(({ type, target }) => type === 'attributes' && form?.contains(target));
    const refused = marked ? refusedIn(active) : null;
    if (refused) return refused.focus();
    if (inPage && !inPage.isConnected) inPage = nearest(inPage, records) ?? inPage;
    if (!last || last.isConnected || (active && active !== document.body)) return;
    const place = nearest(last, records) ?? (inPage?.isConnected ? inPage : null);
    last = null;
    // A menu or a dialog that opens in its place takes the focus a few frames later.
    setTimeout(() => {
      if (document.activeElement !== document.body || document.querySelector(openPopup)) return;
      if (location.pathname === shown) place?.focus();
    }, settlesMs);
  });
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['aria-invalid'] });
  document.addEventListener('focusin', focused);
  return {
    end() {
      observer.disconnect();
      document.removeEventListener('focusin', focused);
    },
  };
}

/** The first control of a form that was refused when its button, which has the focus, was pressed. */
function refusedIn(active: Element | null): HTMLElement | null {
  return formOf(active)?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? null;
}

/** The form that an element submits. */
function formOf(active: Element | null): HTMLFormElement | null {
  return active instanceof HTMLButtonElement && active.type === 'submit' ? active.form : null;
}

/**
 * The stop nearest to where an element was removed: its own successor if its form was built again, otherwise in what
 * followed it, in what preceded it, or behind its parent.
 */
function nearest(removed: Element, records: readonly MutationRecord[]): HTMLElement | null {
  let top: Node = removed;
  while (top.parentNode) top = top.parentNode;
  const record = records.find(({ removedNodes }) => [...removedNodes].includes(top as ChildNode));
  if (!record || record.target === document.body) return null;
  if (!(record.target instanceof Element)) return null;
  if (!record.target.isConnected) return nearest(record.target, records);
  const parent = record.target;
  const all = stopsOf(document.querySelector('main') ?? document.body);
  const added = records.flatMap(({ addedNodes }) => [...addedNodes]);
  const successor = all.find((stop) => isAlike(stop, removed) && added.some((node) => node.contains(stop)));
  if (successor) return successor;
  const inside = (one: Node | null, nth: 0 | -1) =>
    one instanceof Element && one.isConnected ? all.filter((stop) => one.contains(stop)).at(nth) : undefined;
  const behind = (stop: HTMLElement) =>
    parent.compareDocumentPosition(stop) === Node.DOCUMENT_POSITION_FOLLOWING;
  return (
    inside(record.nextSibling, 0) ??
    inside(record.previousSibling, -1) ??
    inside(parent, 0) ??
    all.find(behind) ??
    all.at(-1) ??
    null
  );
}

/** Whether two controls have the same part in their forms. The button of a form has another text while it sends. */
function isAlike(one: Element, other: Element): boolean {
  const same = ['type', 'name'].every((name) => one.getAttribute(name) === other.getAttribute(name));
  const submits = one.getAttribute('type') === 'submit';
  return one.tagName === other.tagName && same && (submits || one.textContent === other.textContent);
}

function stopsOf(root: Element): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(stops)].filter(
    (one) => one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }),
  );
}
