'use client';

import { UserButton, type UserMenuProps } from '#components/shell/popups/user-button';
import { later, OnDemand } from '#components/ui/on-demand';

const OpenUserMenu = later(() =>
  import('#components/shell/popups/open-user-menu').then((all) => all.OpenUserMenu),
);

/** The user menu: who is signed in, the theme, and signing out. */
export function UserMenu(props: UserMenuProps) {
  return (
    <OnDemand
      popup="menu"
      button={(button) => <UserButton {...props} {...button} />}
      opened={<OpenUserMenu {...props} />}
    />
  );
}
