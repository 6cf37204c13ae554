'use client';

import dynamic from 'next/dynamic';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { takeEarlyKeys } from '#components/palette/early-keys';
import { untilLoaded } from '#components/ui/until-loaded';
import { nothingTyped, type TypedAhead, typeAhead } from '#lib/console/typed-ahead';

const Palette = dynamic(
  () => untilLoaded(() => import('#components/palette/palette')).then((loaded) => loaded.Palette),
  { ssr: false },
);
const Shortcuts = dynamic(
  () => untilLoaded(() => import('#components/palette/shortcuts')).then((loaded) => loaded.Shortcuts),
  { ssr: false },
);

interface PaletteProviderProps {
  /** Slug of the current workspace; null in the operator area. */
  workspace: string | null;
  workspaces: readonly { readonly slug: string; readonly name: string }[];
  /** Whether the pages of the operator area are offered. */
  operator: boolean;
  children: ReactNode;
}

type Shown = 'palette' | 'shortcuts' | null;

const PaletteContext = createContext<{ open(): void } | null>(null);

/** Opens the palette. @throws Error outside a PaletteProvider. */
export function usePalette(): { open(): void } {
  const palette = useContext(PaletteContext);
  if (!palette) throw new Error('the palette must be used inside its provider');
  return palette;
}

/** Provides the palette and the global shortcuts; the palette and the shortcut list load on demand. */
export function PaletteProvider({ workspace, workspaces, operator, children }: PaletteProviderProps) {
  const [shown, setShown] = useState<Shown>(null);
  const [met, setMet] = useState<ReadonlySet<Shown>>(new Set());
  /** null: the palette's input takes the keys itself, or is not asked for. */
  const ahead = useRef<TypedAhead | null>(null);
  const palette = useMemo(() => {
    const open = () => {
      ahead.current = nothingTyped;
      setShown('palette');
    };
    const close = () => {
      ahead.current = null;
      setShown(null);
    };
    return { open, close };
  }, []);
  if (shown !== null && !met.has(shown)) setMet(new Set([...met, shown]));
  useEffect(() => {
    const { open, close } = palette;
    const press = (event: KeyboardEvent) => {
      const typed = ahead.current && typeAhead(ahead.current, event);
      if (typed) {
        event.preventDefault();
        ahead.current = typed;
        return;
      }
      if (ahead.current && event.key === 'Escape') return close();
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k' && !event.altKey) {
        event.preventDefault();
        if (ahead.current || shown === 'palette') close();
        // What a form or a new secret shows would be lost on the next page.
        else if (shown === 'shortcuts' || !document.querySelector(openDialog)) open();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || isBusy(event)) return;
      if (event.key === '?') setShown('shortcuts');
      else if (event.key === '/') {
        event.preventDefault();
        const box = document.querySelector<HTMLInputElement>('main input[type="search"]');
        if (box) box.focus();
        else open();
      }
    };
    const paste = (event: ClipboardEvent) => {
      const { current } = ahead;
      if (current) ahead.current = { ...current, text: current.text + event.clipboardData?.getData('text') };
    };
    for (const early of takeEarlyKeys()) press(early);
    window.addEventListener('keydown', press);
    window.addEventListener('paste', paste);
    return () => {
      window.removeEventListener('keydown', press);
      window.removeEventListener('paste', paste);
    };
  }, [palette, shown]);
  const onOpenChange = (open: boolean) => {
    if (!open) palette.close();
  };
  const takeTyped = () => {
    const typed = ahead.current ?? nothingTyped;
    ahead.current = null;
    return typed;
  };
  return (
    <PaletteContext value={palette}>
      {children}
      {met.has('palette') ? (
        <Palette
          open={shown === 'palette'}
          onOpenChange={onOpenChange}
          onShortcuts={() => setShown('shortcuts')}
          takeTyped={takeTyped}
          workspace={workspace}
          workspaces={workspaces}
          operator={operator}
        />
      ) : null}
      {met.has('shortcuts') ? <Shortcuts open={shown === 'shortcuts'} onOpenChange={onOpenChange} /> : null}
    </PaletteContext>
  );
}

const openDialog = '[role="dialog"]:not([data-closed]), [role="alertdialog"]:not([data-closed])';

/** Whether the user is typing or a dialog is open; single keys are not shortcuts then. */
function isBusy({ target }: KeyboardEvent): boolean {
  const open = ['dialog', 'menu', 'listbox'].map((role) => `[role="${role}"]:not([data-closed])`);
  if (document.querySelector(open.join(', '))) return true;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
