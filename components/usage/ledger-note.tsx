interface LedgerNoteProps {
  /** Formatted for display. */
  usage: string;
  posted: string;
  /** Posted minus usage; null: they are equal. */
  difference: string | null;
}

/** Why usage and the ledger may differ in a range. */
export function LedgerNote({ usage, posted, difference }: LedgerNoteProps) {
  return (
    <p className="max-w-3xl text-muted text-xs leading-5">
      Usage counts a call when it is admitted; the ledger charges it when it ends.{' '}
      {difference === null
        ? `In this range, both are ${usage}.`
        : `In this range the ledger charged ${posted} (${difference.startsWith('−') ? '' : '+'}${difference}): the difference is calls and jobs that were running when the range began or ended.`}
    </p>
  );
}
