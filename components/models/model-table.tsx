import Link from 'next/link';
import { CompareBox } from '#components/models/compare-box';
import { Retirement } from '#components/models/retirement';
import { classNames } from '#components/ui/class-names';
import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { ModelRow } from '#lib/console/models/rows';

interface ModelTableProps {
  rows: readonly ModelRow[];
  mostCompared: number;
}

export function ModelTable({ rows, mostCompared }: ModelTableProps) {
  return (
    // Fixed column widths, so that rows that arrive later do not widen them.
    <Table label="Models" className="min-w-[60rem] table-fixed">
      <thead>
        <tr>
          <HeadCell className="w-9 pr-0">
            <span className="sr-only">Compare</span>
          </HeadCell>
          <SortHead by="name">Model</SortHead>
          <SortHead by="context" descendingFirst className="w-22 text-right">
            Context
          </SortHead>
          <HeadCell className="w-22 text-right">Max output</HeadCell>
          <SortHead by="input" className="w-25 text-right">
            Input / 1M
          </SortHead>
          <SortHead by="output" className="w-27 text-right">
            Output / 1M
          </SortHead>
          <HeadCell className="w-34">Input → output</HeadCell>
          <HeadCell className="w-25">Offered by</HeadCell>
          <SortHead by="released" descendingFirst className="w-27">
            Released
          </SortHead>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id}>
            <Cell place="menu" className="pr-0">
              <CompareBox id={row.id} name={row.name} most={mostCompared} />
            </Cell>
            <Cell place="title">
              <span className="flex flex-wrap items-center gap-x-2">
                <Link
                  href={row.href}
                  prefetch={false}
                  className={classNames(
                    'font-medium [overflow-wrap:anywhere] hover:underline',
                    !row.callable && 'text-muted',
                  )}
                >
                  {row.name}
                </Link>
                <Retirement day={row.retires} past={row.retired} />
              </span>
              <code className="block font-mono text-muted text-xs [overflow-wrap:anywhere]">{row.id}</code>
            </Cell>
            <Figure label="Context">{row.context}</Figure>
            <Figure label="Max output">{row.maxOutput}</Figure>
            <Figure label="Input / 1M">{row.input}</Figure>
            <Figure label="Output / 1M">{row.output}</Figure>
            <Cell label="Types" className="text-muted text-xs leading-4">
              {row.reads} → {row.writes}
            </Cell>
            <Cell label="Offered by" className="[overflow-wrap:anywhere]">
              <Providers names={row.providers} />
              {row.callable ? null : (
                <span
                  className="block text-muted text-xs"
                  title="No offer of this model can be called on this gateway."
                >
                  Not available
                </span>
              )}
            </Cell>
            <Cell label="Released" className="whitespace-nowrap text-muted tabular-nums">
              {row.released ?? '—'}
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

function Figure({ label, children }: { label: string; children: string | null }) {
  return (
    <Cell label={label} className="text-right tabular-nums">
      {children ?? (
        <span className="text-muted" title="Unknown or none">
          —
        </span>
      )}
    </Cell>
  );
}

function Providers({ names }: { names: readonly string[] }) {
  const [first, ...rest] = names;
  return (
    <span title={names.join('\n')}>
      {first}
      {rest.length > 0 ? <span className="text-muted"> +{rest.length}</span> : null}
    </span>
  );
}
