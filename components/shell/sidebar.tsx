'use client';

import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { Wordmark } from '#components/brand';
import { PaletteButton } from '#components/palette/palette-button';
import { destinationHref, destinations } from '#components/shell/navigation';
import type { UserMenuProps } from '#components/shell/popups/user-button';
import type { WorkspaceSwitcherProps } from '#components/shell/popups/workspace-button';
import { UserMenu } from '#components/shell/user-menu';
import { WorkspaceSwitcher } from '#components/shell/workspace-switcher';
import { classNames } from '#components/ui/class-names';

export interface SidebarProps extends WorkspaceSwitcherProps, UserMenuProps {
  /** Money that stands above the user. */
  balance: React.ReactNode;
  onNavigate?: () => void;
}

const groups = destinations.filter(({ pages }) => pages.length > 0);

export function Sidebar({ current, workspaces, email, name, role, balance, onNavigate }: SidebarProps) {
  const pathname = usePathname();
  return (
    <div className="flex h-full flex-col gap-5 p-3">
      <Link
        href={destinationHref(current.slug, '')}
        className="rounded-md px-2 pt-2"
        {...(onNavigate ? { onClick: onNavigate } : {})}
      >
        <Wordmark />
      </Link>
      <WorkspaceSwitcher current={current} workspaces={workspaces} />
      <PaletteButton onPress={onNavigate} />
      <nav aria-label="Workspace" className="grid gap-4">
        {groups.map((group) => (
          <div key={group.label ?? 'top'} className="grid gap-0.5">
            {group.label ? <p className="px-2 pb-1 text-muted text-xs">{group.label}</p> : null}
            {group.pages.map((page) => {
              const href = destinationHref(current.slug, page.path);
              const here = pathname === href || (page.path !== '' && pathname.startsWith(`${href}/`));
              return (
                <Link
                  key={page.path}
                  href={href}
                  aria-current={here ? 'page' : undefined}
                  {...(onNavigate ? { onClick: onNavigate } : {})}
                  className={classNames(
                    'flex h-8 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-hover hover:text-ink [&_svg]:size-4',
                    here &&
                      'bg-accent-soft font-medium text-accent-ink hover:bg-accent-soft hover:text-accent-ink',
                  )}
                >
                  {page.icon}
                  {page.label}
                </Link>
              );
            })}
          </div>
        ))}
      </nav>
      <div className="mt-auto grid gap-2">
        {balance}
        <UserMenu email={email} name={name} role={role} />
      </div>
    </div>
  );
}
