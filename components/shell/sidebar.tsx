'use client';

import Link from 'next/link';
import { useContext } from 'react';
import { Wordmark } from '#components/brand';
import { PaletteButton } from '#components/palette/palette-button';
import { destinationHref, destinations } from '#components/shell/navigation';
import { PageLinks } from '#components/shell/page-links';
import { CloseSheet } from '#components/shell/popups/close-sheet';
import type { UserMenuProps } from '#components/shell/popups/user-button';
import type { WorkspaceSwitcherProps } from '#components/shell/popups/workspace-button';
import { UserMenu } from '#components/shell/user-menu';
import { WorkspaceSwitcher } from '#components/shell/workspace-switcher';

export interface SidebarProps extends WorkspaceSwitcherProps, UserMenuProps {
  /** The balance, above the user. */
  balance: React.ReactNode;
}

export function Sidebar({ current, workspaces, balance, ...user }: SidebarProps) {
  const close = useContext(CloseSheet);
  return (
    <div className="flex h-full flex-col gap-3 p-3">
      <Link
        href={destinationHref(current.slug, '')}
        prefetch={false}
        className="rounded-md px-2 pt-2"
        {...(close ? { onClick: close } : {})}
      >
        <Wordmark />
      </Link>
      <WorkspaceSwitcher current={current} workspaces={workspaces} />
      <PaletteButton onPress={close} />
      <PageLinks
        label="Workspace"
        groups={destinations}
        hrefOf={(path) => destinationHref(current.slug, path)}
      />
      <div className="-mx-3 grid gap-2 border-t px-3 pt-3">
        {balance}
        <UserMenu {...user} />
      </div>
    </div>
  );
}
