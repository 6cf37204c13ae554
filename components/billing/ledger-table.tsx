import Link from 'next/link';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import { showCount, showMoney } from '#lib/console/show/money';
import { showMoment } from '#lib/console/show/time';

interface LedgerTableProps {
  lines: readonly {
    readonly id: string;
    readonly at: string;
    readonly kind: 'usage' | 'top_up' | 'promo' | 'refund' | 'dispute' | 'adjustment';
    readonly amount: string;
    readonly balance: string;
    readonly calls: number | null;
    readonly reason: string | null;
  }[];
  /** IANA zone. */
  zone: string;
  workspace: string;
}

const kinds = {
  usage: 'Usage',
  top_up: 'Top-up',
  promo: 'Promo credit',
  refund: 'Refund',
  dispute: 'Dispute',
  adjustment: 'Adjustment',
} as const;
const quarterMs = 900_000;

/** Lines of the ledger, each with the balance after it. */
export function LedgerTable({ lines, zone, workspace }: LedgerTableProps) {
  if (lines.length === 0) {
    return <p className="px-4 py-8 text-center text-muted">Nothing has moved the balance yet.</p>;
  }
  return (
    <Table label="Ledger" className="[&_section]:border-0">
      <thead>
        <tr>
          <HeadCell>When</HeadCell>
          <HeadCell>Line</HeadCell>
          <HeadCell className="text-right">Amount</HeadCell>
          <HeadCell className="text-right">Balance after it</HeadCell>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <Row key={line.id}>
            <Cell className="whitespace-nowrap" title={line.at}>
              {showMoment(Date.parse(line.at), zone)}
            </Cell>
            <Cell className="min-w-48 [overflow-wrap:anywhere]">
              {kinds[line.kind]}
              {line.calls === null ? null : (
                <>
                  {' · '}
                  <Link
                    prefetch={false}
                    className="underline underline-offset-2"
                    href={callsOf(workspace, line.at)}
                  >
                    {showCount(line.calls)} {line.calls === 1 ? 'call' : 'calls'}
                  </Link>
                </>
              )}
              {line.reason ? <span className="block text-muted text-xs">{line.reason}</span> : null}
            </Cell>
            <Cell className="text-right tabular-nums" title={`$${line.amount}`}>
              {line.amount.startsWith('-') ? '' : '+'}
              {showMoney(line.amount)}
            </Cell>
            <Cell className="text-right tabular-nums" title={`$${line.balance}`}>
              {showMoney(line.balance)}
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

/** Calls admitted in that quarter of an hour: nearly those that were settled in it. */
function callsOf(workspace: string, at: string): string {
  const to = new Date(Date.parse(at) + quarterMs).toISOString();
  return `/${workspace}/logs?${new URLSearchParams({ from: at, to })}`;
}
