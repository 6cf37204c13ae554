import Link from 'next/link';
import { MemberMenu } from '#components/members/member-menu';
import { Badge } from '#components/ui/badge';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import { type ColumnOf, columnSets } from '#lib/console/columns';
import type { MemberRow } from '#lib/console/team/member-rows';

interface MemberTableProps {
  members: readonly MemberRow[];
  /** The columns after the member. */
  columns: readonly ColumnOf<'members'>[];
}

const { fixed, names } = columnSets.members;

export function MemberTable({ members, columns }: MemberTableProps) {
  const shows = (column: ColumnOf<'members'>) => columns.includes(column);
  return (
    <Table label="Members">
      <thead>
        <tr>
          <SortHead by="name" usual="ascending">
            {fixed}
          </SortHead>
          {shows('role') ? <SortHead by="role">{names.role}</SortHead> : null}
          {shows('spend') ? (
            <SortHead by="spend" descendingFirst className="text-right">
              {names.spend}
            </SortHead>
          ) : null}
          {shows('since') ? (
            <SortHead by="since" descendingFirst>
              {names.since}
            </SortHead>
          ) : null}
          {shows('id') ? <HeadCell>{names.id}</HeadCell> : null}
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
            {shows('role') ? (
              <Cell place="figure">
                <Badge tone={row.role === 'owner' ? 'accent' : 'neutral'} className="capitalize">
                  {row.role}
                </Badge>
              </Cell>
            ) : null}
            {shows('spend') ? (
              <Cell label={names.spend} className="text-right tabular-nums" title={row.spend.exact}>
                <Link href={row.spend.href} prefetch={false} className="hover:underline">
                  {row.spend.text}
                </Link>
              </Cell>
            ) : null}
            {shows('since') ? (
              <Cell label={names.since} className="whitespace-nowrap" title={row.since.exact}>
                {row.since.text}
              </Cell>
            ) : null}
            {shows('id') ? (
              <Cell label={names.id}>
                <code className="font-mono text-xs [overflow-wrap:anywhere]">{row.id}</code>
              </Cell>
            ) : null}
            <Cell place="menu" sticky>
              <MemberMenu row={row} />
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}
