'use client';

import { Check, ChevronsUpDown } from 'lucide-react';
import Link from 'next/link';
import { Menu, MenuItem } from '#components/ui/menu';

interface WorkspaceName {
  readonly slug: string;
  readonly name: string;
}

export interface WorkspaceSwitcherProps {
  current: WorkspaceName;
  workspaces: readonly WorkspaceName[];
}

function Initial({ name }: { name: string }) {
  return (
    <span
      aria-hidden
      className="grid size-6 shrink-0 place-items-center rounded-md bg-accent-soft font-semibold text-accent-ink text-xs"
    >
      {[...name][0]?.toUpperCase()}
    </span>
  );
}

export function WorkspaceSwitcher({ current, workspaces }: WorkspaceSwitcherProps) {
  return (
    <Menu
      align="start"
      className="w-58"
      trigger={
        <button
          type="button"
          className="flex h-10 w-full items-center gap-2.5 rounded-lg border bg-surface px-2 text-left hover:bg-hover data-[popup-open]:bg-hover"
        >
          <Initial name={current.name} />
          <span className="sr-only">Workspace</span>
          <span className="min-w-0 flex-1 truncate font-medium">{current.name}</span>
          <ChevronsUpDown aria-hidden className="size-3.5 text-muted" />
        </button>
      }
    >
      {workspaces.map((workspace) => (
        <MenuItem key={workspace.slug} link={<Link href={`/${workspace.slug}`} />}>
          <Initial name={workspace.name} />
          <span className="min-w-0 flex-1 truncate">{workspace.name}</span>
          {workspace.slug === current.slug ? <Check aria-label="current" /> : null}
        </MenuItem>
      ))}
    </Menu>
  );
}
