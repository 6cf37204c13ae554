'use client';

import { useChange } from '#components/form/use-change';
import { useMemberPage } from '#components/members/member-actions';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { InvitationRow } from '#lib/console/team/member-rows';

/** The pending invitations. */
export function InvitationTable({ invitations }: { invitations: readonly InvitationRow[] }) {
  return (
    <Table label="Open invitations">
      <thead>
        <tr>
          <HeadCell>Address</HeadCell>
          <HeadCell>Role</HeadCell>
          <HeadCell>Sent</HeadCell>
          <HeadCell>Expires</HeadCell>
          <ActionsHeadCell />
        </tr>
      </thead>
      <tbody>
        {invitations.map((row) => (
          <Invitation key={row.id} row={row} />
        ))}
      </tbody>
    </Table>
  );
}

function Invitation({ row }: { row: InvitationRow }) {
  const { actions, workspace, locked, changesOwners } = useMemberPage();
  const { pending, make } = useChange();
  const mayChange = locked === null && (row.role !== 'owner' || changesOwners);

  function change(verb: 'resend' | 'cancel') {
    const done =
      verb === 'resend' ? `Invitation sent again to ${row.email}` : `Invitation of ${row.email} canceled`;
    make(actions[verb](workspace, { id: row.id }), done);
  }

  return (
    <Row>
      <Cell className="min-w-44">
        <span className="block font-medium [overflow-wrap:anywhere]">{row.email}</span>
        <span className="block text-muted text-xs [overflow-wrap:anywhere]">by {row.invitedBy}</span>
      </Cell>
      <Cell>
        <Badge tone={row.role === 'owner' ? 'accent' : 'neutral'} className="capitalize">
          {row.role}
        </Badge>
      </Cell>
      <Cell className="whitespace-nowrap" title={row.sent.exact}>
        {row.sent.text}
      </Cell>
      <Cell className="whitespace-nowrap" title={row.ends.exact}>
        {row.expired ? <span className="text-warn">{row.ends.text}</span> : row.ends.text}
      </Cell>
      <Cell className="w-px">
        {mayChange ? (
          <span className="flex justify-end gap-1.5">
            <Button
              size="small"
              disabled={pending}
              aria-label={`Send again to ${row.email}`}
              onClick={() => change('resend')}
            >
              Send again
            </Button>
            <Button
              size="small"
              tone="quiet"
              disabled={pending}
              aria-label={`Cancel the invitation of ${row.email}`}
              onClick={() => change('cancel')}
            >
              Cancel
            </Button>
          </span>
        ) : null}
      </Cell>
    </Row>
  );
}
