import type { ReactNode } from 'react';
import { PaletteProvider } from '#components/palette/palette-provider';
import { ShellFrame } from '#components/shell/shell-frame';
import { Sidebar, type SidebarProps } from '#components/shell/sidebar';

/** The frame of the pages of a workspace, with the palette. */
export function Shell({ children, ...sidebar }: SidebarProps & { children: ReactNode }) {
  return (
    <PaletteProvider
      workspace={sidebar.current.slug}
      workspaces={sidebar.workspaces}
      operator={sidebar.operator}
    >
      <ShellFrame sidebar={<Sidebar {...sidebar} />}>{children}</ShellFrame>
    </PaletteProvider>
  );
}
