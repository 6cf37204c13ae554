'use client';

import { useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { type ListColumns, ListTable } from '#components/columns/list-table';
import { noAnswer } from '#components/form/answer';
import { useChange } from '#components/form/use-change';
import { useMemberPage } from '#components/members/member-actions';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { copyText } from '#components/ui/copy';
import { toast } from '#components/ui/toaster';
import type { ColumnOf } from '#lib/console/columns';
import type { InvitationRow } from '#lib/console/team/member-rows';

/** The page also has members. */
const parameter = 'invited';

const looks: ListColumns<InvitationRow, 'invitations'> = {
  fixed: {
    sort: { parameter, by: 'email' },
    place: 'title',
    className: 'min-w-44',
    show: (row) => (
      <>
        <span className="block font-medium [overflow-wrap:anywhere]">{row.email}</span>
        <span className="block text-muted text-xs [overflow-wrap:anywhere]">by {row.invitedBy}</span>
      </>
    ),
  },
  role: {
    sort: { parameter, by: 'role' },
    place: 'figure',
    show: (row) => (
      <Badge tone={row.role === 'owner' ? 'accent' : 'neutral'} className="capitalize">
        {row.role}
      </Badge>
    ),
  },
  sent: {
    sort: { parameter, by: 'sent', descendingFirst: true },
    className: 'whitespace-nowrap',
    title: (row) => row.sent.exact,
    show: (row) => row.sent.text,
  },
  ends: {
    sort: { parameter, by: 'ends' },
    className: 'whitespace-nowrap',
    title: (row) => row.ends.exact,
    show: (row) => (row.expired ? <span className="text-warn">{row.ends.text}</span> : row.ends.text),
  },
  id: {
    className: 'min-w-40',
    show: (row) => <code className="font-mono text-xs [overflow-wrap:anywhere]">{row.id}</code>,
  },
};

interface InvitationTableProps {
  invitations: readonly InvitationRow[];
  /** The columns after the address. */
  columns: readonly ColumnOf<'invitations'>[];
}

/** The pending invitations. */
export function InvitationTable({ invitations, columns }: InvitationTableProps) {
  return (
    <ListTable
      label="Open invitations"
      table="invitations"
      looks={looks}
      columns={columns}
      rows={invitations}
      actions={{ show: (row) => <InvitationActions row={row} /> }}
    />
  );
}

function InvitationActions({ row }: { row: InvitationRow }) {
  const { actions, workspace, locked, mails, changesOwners } = useMemberPage();
  const { pending, make } = useChange();
  if (locked !== null || (row.role === 'owner' && !changesOwners)) return null;

  function change(verb: 'resend' | 'cancel') {
    const done =
      verb === 'resend' ? `Invitation sent again to ${row.email}` : `Invitation of ${row.email} canceled`;
    make(actions[verb](workspace, { id: row.id }), done);
  }

  return (
    <span className="flex justify-end gap-1.5">
      <CopyLinkButton row={row} />
      {mails ? (
        <Button
          size="small"
          disabled={pending}
          aria-label={`Send again to ${row.email}`}
          onClick={() => change('resend')}
        >
          Send again
        </Button>
      ) : null}
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
