'use client';

import { Search } from 'lucide-react';
import { usePalette } from '#components/palette/palette-provider';
import { Kbd } from '#components/ui/kbd';
import { useCommandKey } from '#components/ui/use-command-key';

/** Opens the palette without the keyboard shortcut. */
export function PaletteButton({ onPress }: { onPress?: (() => void) | undefined }) {
  const palette = usePalette();
  const command = useCommandKey();
  return (
    <button
      type="button"
      aria-keyshortcuts="Meta+K Control+K"
      onClick={() => {
        onPress?.();
        palette.open();
      }}
      className="flex h-9 w-full items-center gap-2.5 rounded-md border bg-surface px-2.5 text-left text-muted hover:bg-hover hover:text-ink"
    >
      <Search aria-hidden className="size-4" />
      <span className="flex-1">Search</span>
      <span aria-hidden>
        <Kbd>{command === '⌘' ? '⌘K' : 'Ctrl K'}</Kbd>
      </span>
    </button>
  );
}
