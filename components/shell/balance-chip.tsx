import { Wallet } from 'lucide-react';

interface BalanceChipProps {
  /** What may still be spent, ready to read: "$10.00". */
  available: string;
  /** The exact decimal, for the tooltip. */
  exact: string;
  /** No call is admitted at or below zero. */
  empty: boolean;
  /** Below the threshold that the workspace has set. */
  low: boolean;
}

export function BalanceChip({ available, exact, empty, low }: BalanceChipProps) {
  return (
    <div className="rounded-lg border bg-surface px-3 py-2.5" title={`$${exact}`}>
      <p className="flex items-center gap-1.5 text-muted text-xs">
        <Wallet aria-hidden className="size-3.5" />
        Available
      </p>
      <p className="mt-0.5 font-semibold text-base tabular-nums tracking-tight">{available}</p>
      {empty ? (
        <p className="mt-1 text-bad text-xs leading-4">Calls are refused until funds are added.</p>
      ) : low ? (
        <p className="mt-1 text-warn text-xs leading-4">The balance is low.</p>
      ) : null}
    </div>
  );
}
