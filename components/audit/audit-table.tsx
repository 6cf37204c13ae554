import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { AuditRow } from '#lib/console/team/audit-rows';

/** Who changed what, newest first; user-supplied values are shown as plain text. */
export function AuditTable({ rows }: { rows: readonly AuditRow[] }) {
  return (
    <Table label="Audit log">
      <thead>
        <tr>
          <HeadCell>Time</HeadCell>
          <HeadCell>Who</HeadCell>
          <HeadCell>Action</HeadCell>
          <HeadCell>Changes</HeadCell>
          <HeadCell>From</HeadCell>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id}>
            <Cell className="whitespace-nowrap align-top tabular-nums" title={row.time.exact}>
              {row.time.text}
            </Cell>
            <Cell className="max-w-64 min-w-36 align-top [overflow-wrap:anywhere]" title={row.actor}>
              {row.who}
            </Cell>
            <Cell className="min-w-44 align-top">
              <code className="font-mono text-[0.8125rem]">{row.action}</code>
              <span
                className="block max-w-56 truncate text-muted text-xs"
                title={`${row.called ? `${row.called}, ` : ''}${row.subject}`}
              >
                {row.called ?? row.subject}
              </span>
            </Cell>
            <Cell className="min-w-64 align-top">
              <Changes row={row} />
            </Cell>
            <Cell className="whitespace-nowrap align-top text-muted tabular-nums">{row.address}</Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

const shownAtOnce = 3;

function Changes({ row: { changes } }: { row: AuditRow }) {
  if (changes.length === 0) return <span className="text-muted">–</span>;
  const rest = changes.slice(shownAtOnce);
  return (
    <>
      <ChangeList changes={changes.slice(0, shownAtOnce)} />
      {rest.length > 0 ? (
        <details>
          <summary className="cursor-pointer text-muted text-xs">{rest.length} more</summary>
          <ChangeList changes={rest} />
        </details>
      ) : null}
    </>
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
