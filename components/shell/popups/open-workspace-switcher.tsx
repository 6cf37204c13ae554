'use client';

import { Check, Plus } from 'lucide-react';
import Link from 'next/link';
import {
  Initial,
  WorkspaceButton,
  type WorkspaceSwitcherProps,
} from '#components/shell/popups/workspace-button';
import { Menu, MenuItem, MenuSeparator } from '#components/ui/menu';

export function OpenWorkspaceSwitcher({ current, workspaces }: WorkspaceSwitcherProps) {
  return (
    <Menu align="start" className="w-58" startOpen trigger={<WorkspaceButton name={current.name} />}>
      {workspaces.map((workspace) => (
        <MenuItem key={workspace.slug} link={<Link href={`/${workspace.slug}`} />}>
          <Initial name={workspace.name} />
          <span
            className="min-w-0 flex-1 truncate max-sm:whitespace-normal max-sm:[overflow-wrap:anywhere]"
            dir="auto"
            title={workspace.name}
          >
            {workspace.name}
          </span>
          {workspace.slug === current.slug ? <Check aria-label="current" /> : null}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem link={<Link href="/new" prefetch={false} />}>
        <Plus />
        New workspace
      </MenuItem>
    </Menu>
  );
}
