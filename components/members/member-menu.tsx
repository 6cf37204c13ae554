'use client';

import { MemberMenuButton } from '#components/members/popups/member-menu-button';
import { later, OnDemand } from '#components/ui/on-demand';
import type { MemberRow } from '#lib/console/team/member-rows';

const OpenMemberMenu = later(() =>
  import('#components/members/popups/open-member-menu').then((all) => all.OpenMemberMenu),
);

/** The actions on a member, loaded on demand. */
export function MemberMenu({ row }: { row: MemberRow }) {
  return (
    <OnDemand
      popup="menu"
      button={(button) => <MemberMenuButton email={row.email} {...button} />}
      opened={<OpenMemberMenu row={row} />}
    />
  );
}
