import { type ListColumns, ListTable } from '#components/columns/list-table';
import type { ColumnOf } from '#lib/console/columns';
import type { AuditRow } from '#lib/console/team/audit-rows';

const code = (text: string) => <code className="font-mono text-xs [overflow-wrap:anywhere]">{text}</code>;

const looks: ListColumns<AuditRow, 'audit'> = {
  fixed: {
    sort: { by: 'at', descendingFirst: true, usual: 'descending' },
    place: 'aside',
    className: 'whitespace-nowrap align-top tabular-nums',
    title: (row) => row.time.exact,
    show: (row) => row.time.text,
  },
  change: {
    place: 'title',
    className: 'min-w-72 align-top leading-5 [overflow-wrap:anywhere]',
    show: (row) => (
      <>
        <span className="font-medium" title={row.actor}>
          {row.who}
        </span>{' '}
        {row.did}
        <Details row={row} />
      </>
    ),
  },
  address: {
    className: 'whitespace-nowrap align-top text-muted tabular-nums',
    show: (row) => row.address,
  },
  action: { className: 'align-top', show: (row) => code(row.action) },
  subject: { className: 'min-w-40 align-top', show: (row) => code(row.subject) },
  actor: { className: 'min-w-40 align-top', show: (row) => code(row.actor) },
};

interface AuditTableProps {
  rows: readonly AuditRow[];
  /** The columns after the time. */
  columns: readonly ColumnOf<'audit'>[];
}

/** Who changed what, newest first; user-supplied values are shown as plain text. */
export function AuditTable({ rows, columns }: AuditTableProps) {
  return <ListTable label="Audit log" table="audit" looks={looks} columns={columns} rows={rows} />;
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
