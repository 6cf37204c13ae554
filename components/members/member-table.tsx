import { MemberMenu } from '#components/members/member-menu';
import { Badge } from '#components/ui/badge';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { MemberRow } from '#lib/console/team/member-rows';

export function MemberTable({ members }: { members: readonly MemberRow[] }) {
  return (
    <Table label="Members">
      <thead>
        <tr>
          <HeadCell>Member</HeadCell>
          <HeadCell>Role</HeadCell>
          <HeadCell className="max-sm:hidden">Since</HeadCell>
          <ActionsHeadCell sticky />
        </tr>
      </thead>
      <tbody>
        {members.map((row) => (
          <Row key={row.id}>
            <Cell className="min-w-44">
              <span className="flex flex-wrap items-center gap-2 font-medium [overflow-wrap:anywhere]">
                {row.name ?? row.email}
                {row.you ? <Badge tone="outline">You</Badge> : null}
              </span>
              {row.name ? (
                <span className="block text-muted text-xs [overflow-wrap:anywhere]">{row.email}</span>
              ) : null}
            </Cell>
            <Cell>
              <Badge tone={row.role === 'owner' ? 'accent' : 'neutral'} className="capitalize">
                {row.role}
              </Badge>
            </Cell>
            <Cell className="whitespace-nowrap max-sm:hidden" title={row.since.exact}>
              {row.since.text}
            </Cell>
            <Cell className="right-0 w-12 border-line px-1.5 max-lg:sticky max-lg:bg-surface">
              <MemberMenu row={row} />
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}
