'use client';

import { BookOpen, LogOut, Monitor, Moon, Settings2, Sun, Wrench } from 'lucide-react';
import Link from 'next/link';
import { useTheme } from 'next-themes';
import { leave } from '#components/account/leave';
import { UserButton, type UserMenuProps } from '#components/shell/popups/user-button';
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '#components/ui/menu';

const themes = [
  { value: 'system', label: 'System', icon: <Monitor /> },
  { value: 'light', label: 'Light', icon: <Sun /> },
  { value: 'dark', label: 'Dark', icon: <Moon /> },
] as const;

/** The opened user menu: who is signed in, the theme, and signing out. */
export function OpenUserMenu(user: UserMenuProps) {
  const { theme, setTheme } = useTheme();
  return (
    <Menu side="top" align="start" className="w-58" startOpen trigger={<UserButton {...user} />}>
      <p className="truncate px-2 py-1.5 text-muted text-xs" title={user.email}>
        {user.email}
      </p>
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
      {user.operator ? (
        <MenuItem link={<Link href="/operator" prefetch={false} />}>
          <Wrench />
          Operator area
        </MenuItem>
      ) : null}
      <MenuItem link={<Link href="/docs" prefetch={false} />}>
        <BookOpen />
        Documentation
      </MenuItem>
      <MenuItem onSelect={() => void leave()}>
        <LogOut />
        Sign out
      </MenuItem>
      {user.version === null ? null : (
        <>
          <MenuSeparator />
          <p className="px-2 py-1.5 text-muted text-xs">Model Gateway {user.version}</p>
        </>
      )}
    </Menu>
  );
}
