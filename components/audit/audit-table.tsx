import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { AuditRow } from '#lib/console/team/audit-rows';

/** Who changed what, newest first; user-supplied values are shown as plain text. */
export function AuditTable({ rows }: { rows: readonly AuditRow[] }) {
  return (
    <Table label="Audit log">
      <thead>
        <tr>
          <SortHead by="at" descendingFirst usual="descending">
            Time
          </SortHead>
          <HeadCell>Change</HeadCell>
          <HeadCell>From</HeadCell>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id}>
            <Cell place="aside" className="whitespace-nowrap align-top tabular-nums" title={row.time.exact}>
              {row.time.text}
            </Cell>
            <Cell place="title" className="min-w-72 align-top leading-5 [overflow-wrap:anywhere]">
              <span className="font-medium" title={row.actor}>
                {row.who}
              </span>{' '}
              {row.did}
              <Details row={row} />
            </Cell>
            <Cell label="From" className="whitespace-nowrap align-top text-muted tabular-nums">
              {row.address}
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

/** The row as it is stored. */
function Details({ row: { action, subject, actor, changes } }: { row: AuditRow }) {
  return (
    <details className="mt-0.5">
      <summary className="w-fit cursor-pointer text-muted text-xs">Details</summary>
      <dl className="mt-1 mb-1.5 grid grid-cols-[4.5rem_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-xs leading-5">
        <dt className="text-muted">Action</dt>
        <dd className="font-mono">{action}</dd>
        <dt className="text-muted">Subject</dt>
        <dd className="font-mono">{subject}</dd>
        <dt className="text-muted">Actor</dt>
        <dd className="font-mono">{actor}</dd>
      </dl>
      <ChangeList changes={changes} />
    </details>
  );
}

function ChangeList({ changes }: { changes: AuditRow['changes'] }) {
  return (
    <ul className="grid gap-0.5 text-[0.8125rem] leading-5">
      {changes.map(({ name, before, after }) => (
        <li key={name} className="[overflow-wrap:anywhere]">
          <span className="text-muted">{name}</span>{' '}
          {before === null ? null : (
            <>
              <del className="text-muted decoration-line-strong">{before}</del>
              <span className="sr-only">, before; </span>
              {after === null ? null : <span aria-hidden> → </span>}
            </>
          )}
          {after === null ? null : (
            <ins className="no-underline">
              {after}
              <span className="sr-only">, after</span>
            </ins>
          )}
        </li>
      ))}
    </ul>
  );
}
