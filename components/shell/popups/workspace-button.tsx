import { ChevronsUpDown } from 'lucide-react';
import type { ComponentProps } from 'react';

interface WorkspaceName {
  readonly slug: string;
  readonly name: string;
}

export interface WorkspaceSwitcherProps {
  current: WorkspaceName;
  workspaces: readonly WorkspaceName[];
}

/** The first letter of a workspace, instead of a picture. */
export function Initial({ name }: { name: string }) {
  return (
    <span
      aria-hidden
      className="grid size-6 shrink-0 place-items-center rounded-md bg-accent-soft font-semibold text-accent-ink text-xs"
    >
      {[...name][0]?.toUpperCase()}
    </span>
  );
}

/** Button with the current workspace. */
export function WorkspaceButton({ name, ...button }: { name: string } & ComponentProps<'button'>) {
  return (
    <button
      type="button"
      {...button}
      className="flex h-10 w-full items-center gap-2.5 rounded-lg border bg-surface px-2 text-left hover:bg-hover data-[popup-open]:bg-hover"
    >
      <Initial name={name} />
      <span className="sr-only">Workspace</span>
      <span dir="auto" className="min-w-0 flex-1 truncate font-medium" title={name}>
        {name}
      </span>
      <ChevronsUpDown aria-hidden className="size-3.5 text-muted" />
    </button>
  );
}
