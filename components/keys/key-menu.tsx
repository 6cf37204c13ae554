'use client';

import { KeyMenuButton } from '#components/keys/key-menu-button';
import type { KeyRow } from '#components/keys/key-row';
import { later, OnDemand } from '#components/ui/on-demand';

const OpenKeyMenu = later(() =>
  import('#components/keys/popups/open-key-menu').then((all) => all.OpenKeyMenu),
);

/** The actions on a key, loaded on demand: a page has fifty of these menus. */
export function KeyMenu({ row }: { row: KeyRow }) {
  return (
    <OnDemand
      popup="menu"
      button={(button) => <KeyMenuButton name={row.name} {...button} />}
      opened={<OpenKeyMenu row={row} />}
    />
  );
}
