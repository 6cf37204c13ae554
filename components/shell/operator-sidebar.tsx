'use client';

import { ArrowLeft } from 'lucide-react';
import Link from 'next/link';
import { useContext } from 'react';
import { Wordmark } from '#components/brand';
import { PaletteButton } from '#components/palette/palette-button';
import { operatorDestinations, operatorHref } from '#components/shell/operator-navigation';
import { PageLinks } from '#components/shell/page-links';
import { CloseSheet } from '#components/shell/popups/close-sheet';
import type { UserMenuProps } from '#components/shell/popups/user-button';
import { UserMenu } from '#components/shell/user-menu';
import { Badge } from '#components/ui/badge';

/** The sidebar of the operator area, with a link back to the workspaces. */
export function OperatorSidebar(user: UserMenuProps) {
  const close = useContext(CloseSheet);
  return (
    <div className="flex h-full flex-col gap-3 p-3">
      <Link
        href="/operator"
        prefetch={false}
        className="flex items-center gap-2 rounded-md px-2 pt-2"
        {...(close ? { onClick: close } : {})}
      >
        <Wordmark />
      </Link>
      <div className="flex items-center justify-between px-2">
        <Badge>Operator</Badge>
        <Link
          href="/"
          prefetch={false}
          className="flex items-center gap-1.5 rounded-md text-muted text-xs hover:text-ink"
        >
          <ArrowLeft aria-hidden className="size-3.5" />
          Your workspaces
        </Link>
      </div>
      <PaletteButton onPress={close} />
      <PageLinks label="Operator" groups={operatorDestinations} hrefOf={operatorHref} />
      <div className="-mx-3 grid gap-2 border-t px-3 pt-3">
        <UserMenu {...user} />
      </div>
    </div>
  );
}
