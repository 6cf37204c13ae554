import Link from 'next/link';
import { MemberMenu } from '#components/members/member-menu';
import { Badge } from '#components/ui/badge';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { MemberRow } from '#lib/console/team/member-rows';

export function MemberTable({ members }: { members: readonly MemberRow[] }) {
  return (
    <Table label="Members">
      <thead>
        <tr>
          <SortHead by="name" usual="ascending">
            Member
          </SortHead>
          <SortHead by="role">Role</SortHead>
          <HeadCell className="text-right">Spend this month</HeadCell>
          <SortHead by="since" descendingFirst>
            Since
          </SortHead>
          <ActionsHeadCell sticky />
        </tr>
      </thead>
      <tbody>
        {members.map((row) => (
          <Row key={row.id}>
            <Cell place="title" className="min-w-44">
              <span className="flex flex-wrap items-center gap-2 font-medium [overflow-wrap:anywhere]">
                {row.name ?? row.email}
                {row.you ? <Badge tone="outline">You</Badge> : null}
              </span>
              {row.name ? (
                <span className="block text-muted text-xs [overflow-wrap:anywhere]">{row.email}</span>
              ) : null}
            </Cell>
            <Cell place="figure">
              <Badge tone={row.role === 'owner' ? 'accent' : 'neutral'} className="capitalize">
                {row.role}
              </Badge>
            </Cell>
            <Cell label="Spend this month" className="text-right tabular-nums" title={row.spend.exact}>
              <Link href={row.spend.href} prefetch={false} className="hover:underline">
                {row.spend.text}
              </Link>
            </Cell>
            <Cell label="Since" className="whitespace-nowrap" title={row.since.exact}>
              {row.since.text}
            </Cell>
            <Cell place="menu" sticky>
              <MemberMenu row={row} />
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}
