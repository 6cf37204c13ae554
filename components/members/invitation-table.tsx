'use client';

import { useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { noAnswer } from '#components/form/answer';
import { useChange } from '#components/form/use-change';
import { useMemberPage } from '#components/members/member-actions';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { copyText } from '#components/ui/copy';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, Row, Table } from '#components/ui/table';
import { toast } from '#components/ui/toaster';
import type { InvitationRow } from '#lib/console/team/member-rows';

/** The pending invitations. */
export function InvitationTable({ invitations }: { invitations: readonly InvitationRow[] }) {
  return (
    <Table label="Open invitations">
      <thead>
        <tr>
          <SortHead parameter="invited" by="email">
            Address
          </SortHead>
          <SortHead parameter="invited" by="role">
            Role
          </SortHead>
          <SortHead parameter="invited" by="sent" descendingFirst>
            Sent
          </SortHead>
          <SortHead parameter="invited" by="ends">
            Expires
          </SortHead>
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
      <Cell place="title" className="min-w-44">
        <span className="block font-medium [overflow-wrap:anywhere]">{row.email}</span>
        <span className="block text-muted text-xs [overflow-wrap:anywhere]">by {row.invitedBy}</span>
      </Cell>
      <Cell place="figure">
        <Badge tone={row.role === 'owner' ? 'accent' : 'neutral'} className="capitalize">
          {row.role}
        </Badge>
      </Cell>
      <Cell label="Sent" className="whitespace-nowrap" title={row.sent.exact}>
        {row.sent.text}
      </Cell>
      <Cell label="Expires" className="whitespace-nowrap" title={row.ends.exact}>
        {row.expired ? <span className="text-warn">{row.ends.text}</span> : row.ends.text}
      </Cell>
      <Cell className="w-px">
        {mayChange ? (
          <span className="flex justify-end gap-1.5">
            <CopyLinkButton row={row} />
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

/** Makes a new link, which ends the earlier ones, and puts it on the clipboard. */
function CopyLinkButton({ row: { id, email } }: { row: InvitationRow }) {
  const { actions, workspace } = useMemberPage();
  const router = useRouter();
  const [pending, startTransition] = useTransition();

  function copy() {
    startTransition(async () => {
      const answer = await actions.link(workspace, { id }).catch(() => null);
      if (!answer?.ok) {
        toast.error(answer?.message ?? noAnswer);
        return;
      }
      const link = `${window.location.origin}${answer.value.path}`;
      await copyText(link).then(
        () => toast.success(`Link for ${email} copied. It works once, for 7 days; earlier links have ended.`),
        () => toast.error(`Your browser blocked copying. Send this link to ${email}: ${link}`),
      );
      router.refresh();
    });
  }

  return (
    <Button size="small" disabled={pending} onClick={copy}>
      {pending ? 'Copying…' : 'Copy link'}
      <span className="sr-only"> for {email}</span>
    </Button>
  );
}
