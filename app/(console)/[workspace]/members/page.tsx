import type { Metadata } from 'next';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { InvitationTable } from '#components/members/invitation-table';
import { InviteButton } from '#components/members/invite-dialog';
import { MemberPageProvider } from '#components/members/member-actions';
import { MemberTable } from '#components/members/member-table';
import { RoleMatrix } from '#components/members/role-matrix';
import { PageHead } from '#components/page-head';
import { PagesNav } from '#components/pages-nav';
import { Button } from '#components/ui/button';
import { Input } from '#components/ui/input';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { getConsoleHost } from '#lib/console/db';
import { listUrl } from '#lib/console/list-url';
import { lockOf } from '#lib/console/lock';
import { requireMember } from '#lib/console/member';
import { readForPage } from '#lib/console/operation';
import { showZone } from '#lib/console/show/time';
import { invitationRowOf, memberRowOf } from '#lib/console/team/member-rows';
import { roleMatrix } from '#lib/console/team/role-matrix';
import { usageAddress } from '#lib/console/usage/parameters';
import { listInvitations } from '#lib/control/operations/invitation/operations';
import { listMembers } from '#lib/control/operations/member/operations';
import { operations } from '#lib/control/operations/operations';
import { showUsage } from '#lib/control/operations/usage/operations';
import { rangeNamed } from '#lib/core/charts/ranges';
import { knownZone } from '#lib/core/charts/zone';
import { may, roles } from '#lib/core/role';
import { chooseColumnsAction } from '../../../columns-action';
import {
  cancelAction,
  inviteAction,
  leaveAction,
  linkAction,
  removeMemberAction,
  resendAction,
  setMemberAction,
  transferAction,
  whatStopsAction,
} from './actions';

export const metadata: Metadata = { title: 'Members' };

const actions = {
  invite: inviteAction,
  resend: resendAction,
  link: linkAction,
  cancel: cancelAction,
  set: setMemberAction,
  remove: removeMemberAction,
  leave: leaveAction,
  transfer: transferAction,
  whatStops: whatStopsAction,
};
const lines = roleMatrix(operations);

interface MembersPageProps {
  params: Promise<{ workspace: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function MembersPage({ params, searchParams }: MembersPageProps) {
  const member = await requireMember((await params).workspace, 'members:read');
  const { user, role, workspace } = member;
  const { slug, timeZone } = workspace;
  const query = await searchParams;
  const textOf = (name: string) => [query[name]].flat()[0] || undefined;
  const [after, sort, columns, search] = ['after', 'sort', 'columns', 'search'].map(textOf);
  const [invited, invitedAfter, invitedColumns] = ['invited', 'invitedAfter', 'invitedColumns'].map(textOf);
  const texts = { search, sort, columns, invited, invitedColumns };
  const { fromMs, toMs } = rangeNamed('month', Date.now(), knownZone(timeZone));
  const month = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
  const [members, invitations, spend, chosen, chosenOfInvitations] = await Promise.all([
    readForPage(listMembers, slug, { search, sort: sort ?? 'name', after, limit: 100 }),
    readForPage(listInvitations, slug, { search, sort: invited, after: invitedAfter, limit: 100 }),
    readForPage(showUsage, slug, { by: 'member', durations: false, ...month }),
    readChosenColumns('members', query),
    readChosenColumns('invitations', query),
  ]);
  const nowMs = Date.now();
  const place = { timeZone, nowMs };
  const spent = new Map(spend.rows.map(({ member: id = '', cost }) => [id, cost]));
  const usage = usageAddress(`/${slug}/usage`, { by: 'member', range: 'month' });
  const { mails } = getConsoleHost().env;
  const changesOwners = may(role, 'owners:write');
  const locked = lockOf(member, 'members:write', 'change members');
  const here = `/${slug}/members`;
  return (
    <MemberPageProvider
      actions={actions}
      workspace={slug}
      locked={locked}
      mails={mails === true}
      changesOwners={changesOwners}
      roles={roles.filter((one) => one !== 'owner' || changesOwners)}
    >
      <PageHead
        help="members"
        title="Members"
        action={
          <div className="flex flex-wrap gap-2">
            <ListColumnsButton table="members" remembered={chosen} remember={chooseColumnsAction} />
            <InviteButton />
          </div>
        }
      >
        Who has access to this workspace, and what they can do. Changes apply immediately.
      </PageHead>
      {search || after || invitedAfter || members.next || invitations.next ? (
        <search>
          <form action={here} className="flex max-w-md gap-2">
            <Input
              name="search"
              type="search"
              aria-label="Search members and invitations"
              placeholder="Name or email"
              defaultValue={search}
            />
            <Button type="submit">Search</Button>
          </form>
        </search>
      ) : null}
      <section aria-label="Members" className="grid min-w-0 gap-3">
        {members.data.length === 0 ? (
          <p className="rounded-lg border bg-surface px-4 py-3 text-muted">No matching members.</p>
        ) : null}
        <MemberTable
          members={members.data.map((one) =>
            memberRowOf(one, user.id, { ...place, spent: spent.get(one.id), href: usage }),
          )}
          columns={shownColumns('members', chosen)}
        />
        <PagesNav
          label="Pages of members"
          first={after ? listUrl(here, { ...texts, invitedAfter }) : null}
          next={members.next ? listUrl(here, { ...texts, invitedAfter, after: members.next }) : null}
          words={{ first: 'First', next: 'More' }}
        >
          Dates in {showZone(timeZone, nowMs)}. A workspace always has at least one owner.
        </PagesNav>
      </section>
      {invitations.data.length > 0 ? (
        <section aria-labelledby="invitations" className="grid min-w-0 gap-3">
          <header className="flex flex-wrap items-center justify-between gap-3">
            <h2 id="invitations" className="font-semibold text-base">
              Open invitations
            </h2>
            <ListColumnsButton
              table="invitations"
              remembered={chosenOfInvitations}
              remember={chooseColumnsAction}
            />
          </header>
          {mails ? null : (
            <p className="text-muted leading-5">
              This gateway does not send email. Copy the link of an invitation and send it to the person
              yourself.
            </p>
          )}
          <InvitationTable
            columns={shownColumns('invitations', chosenOfInvitations)}
            invitations={invitations.data.map((one) => invitationRowOf(one, place))}
          />
          <PagesNav
            label="Pages of invitations"
            first={invitedAfter ? listUrl(here, { ...texts, after }) : null}
            next={
              invitations.next ? listUrl(here, { ...texts, after, invitedAfter: invitations.next }) : null
            }
            words={{ first: 'First', next: 'More' }}
          >
            A link works once, for 7 days.
          </PagesNav>
        </section>
      ) : null}
      <section aria-labelledby="roles" className="grid min-w-0 gap-3">
        <div className="grid gap-1">
          <h2 id="roles" className="font-semibold text-base">
            What each role can do
          </h2>
          <p className="max-w-2xl text-muted leading-5">
            The same rules apply in the console, in the management API and to management keys. Open a row to
            see the permissions it includes.
          </p>
        </div>
        <RoleMatrix roles={roles} lines={lines} />
      </section>
    </MemberPageProvider>
  );
}
