import { Menu } from 'lucide-react';
import type { ComponentProps } from 'react';
import { buttonStyle } from '#components/ui/button';

/** Opens the sidebar on a narrow screen. */
export function SheetButton(button: ComponentProps<'button'>) {
  return (
    <button
      type="button"
      aria-label="Open menu"
      className={buttonStyle({ tone: 'plain', size: 'icon' })}
      {...button}
    >
      <Menu />
    </button>
  );
}
