'use client';

import { BookOpen, LogOut, Monitor, Moon, Settings2, Sun, UserRound } from 'lucide-react';
import Link from 'next/link';
import { useTheme } from 'next-themes';
import { leave } from '#components/account/leave';
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '#components/ui/menu';

export interface UserMenuProps {
  email: string;
  name: string | null;
  /** The user's role in this workspace. */
  role: string;
}

const themes = [
  { value: 'system', label: 'System', icon: <Monitor /> },
  { value: 'light', label: 'Light', icon: <Sun /> },
  { value: 'dark', label: 'Dark', icon: <Moon /> },
] as const;

/** Who is signed in, the theme, and the way out. */
export function UserMenu({ email, name, role }: UserMenuProps) {
  const { theme, setTheme } = useTheme();
  return (
    <Menu
      side="top"
      align="start"
      className="w-58"
      trigger={
        <button
          type="button"
          className="flex h-11 w-full items-center gap-2.5 rounded-lg px-2 text-left hover:bg-hover data-[popup-open]:bg-hover"
        >
          <span
            aria-hidden
            className="grid size-7 shrink-0 place-items-center rounded-full border bg-surface"
          >
            <UserRound className="size-3.5 text-muted" />
          </span>
          <span className="sr-only">Account and theme</span>
          <span className="grid min-w-0 flex-1">
            <span className="truncate font-medium text-[0.8125rem] leading-4">{name ?? email}</span>
            <span className="truncate text-muted text-xs capitalize leading-4">{role}</span>
          </span>
        </button>
      }
    >
      <p className="truncate px-2 py-1.5 text-muted text-xs">{email}</p>
      <MenuSeparator />
      <MenuChoice
        label="Theme"
        value={themes.find((option) => option.value === theme)?.value ?? 'system'}
        options={themes}
        onChange={setTheme}
      />
      <MenuSeparator />
      <MenuItem link={<Link href="/account" prefetch={false} />}>
        <Settings2 />
        Your account
      </MenuItem>
      <MenuItem link={<Link href="/docs" prefetch={false} />}>
        <BookOpen />
        Documentation
      </MenuItem>
      <MenuItem onSelect={() => void leave()}>
        <LogOut />
        Sign out
      </MenuItem>
    </Menu>
  );
}
