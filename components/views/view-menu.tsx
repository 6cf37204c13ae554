'use client';

import { later, OnDemand } from '#components/ui/on-demand';
import { ViewButton } from '#components/views/popups/view-button';
import type { ViewMenuProps } from '#components/views/view-props';

const OpenViewMenu = later(() =>
  import('#components/views/popups/open-view-menu').then((all) => all.OpenViewMenu),
);

/** The saved views of a page, loaded on demand. */
export function ViewMenu(props: ViewMenuProps) {
  return (
    <OnDemand
      popup="menu"
      button={(button) => <ViewButton {...button} />}
      opened={<OpenViewMenu {...props} />}
    />
  );
}
