import { UserRound } from 'lucide-react';
import type { ComponentProps } from 'react';

export interface UserMenuProps {
  email: string;
  name: string | null;
  /** The user's role in this workspace. */
  role: string;
  /** Whether the user runs this gateway; the menu then links to the operator area. */
  operator: boolean;
  /** Version of the gateway; null: unknown. */
  version: string | null;
}

/** Who is signed in. */
export function UserButton({
  email,
  name,
  role,
  operator: _operator,
  version: _version,
  ...button
}: UserMenuProps & Omit<ComponentProps<'button'>, 'name' | 'role'>) {
  return (
    <button
      type="button"
      {...button}
      className="flex h-11 w-full items-center gap-2.5 rounded-lg px-2 text-left hover:bg-hover data-[popup-open]:bg-hover"
    >
      <span aria-hidden className="grid size-7 shrink-0 place-items-center rounded-full border bg-surface">
        <UserRound className="size-3.5 text-muted" />
      </span>
      <span className="sr-only">Account and theme</span>
      <span className="grid min-w-0 flex-1">
        <span dir="auto" className="truncate font-medium text-[0.8125rem] leading-4" title={name ?? email}>
          {name ?? email}
        </span>
        <span className="truncate text-muted text-xs capitalize leading-4">{role}</span>
      </span>
    </button>
  );
}
