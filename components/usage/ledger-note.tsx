interface LedgerNoteProps {
  /** Ready to read. */
  usage: string;
  posted: string;
  /** Posted less usage; null: they are equal. */
  difference: string | null;
}

/** Why usage and the ledger may differ in a range. */
export function LedgerNote({ usage, posted, difference }: LedgerNoteProps) {
  return (
    <p className="max-w-3xl text-muted text-xs leading-5">
      Usage counts a call when it is admitted, the ledger charges it when it has ended.{' '}
      {difference === null
        ? `In this range both come to ${usage}.`
        : `In this range the ledger charged ${posted} (${difference.startsWith('−') ? '' : '+'}${difference}): calls and jobs that began before an edge of the range and ended behind it.`}
    </p>
  );
}
