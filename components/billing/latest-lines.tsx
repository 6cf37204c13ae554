import Link from 'next/link';
import { LedgerTable } from '#components/billing/ledger-table';
import { Section } from '#components/section';
import { ledgerRowOf } from '#lib/console/billing/ledger-rows';
import { shownColumns } from '#lib/console/columns';
import type { LedgerLine } from '#lib/control/operations/ledger/list';

interface LatestLinesProps {
  lines: readonly LedgerLine[];
  /** Slug. */
  workspace: string;
  /** IANA zone. */
  zone: string;
}

/** The latest lines of the ledger, with a link to all of them. */
export function LatestLines({ lines, workspace, zone }: LatestLinesProps) {
  const ledger = `/${workspace}/billing/ledger`;
  return (
    <Section
      title="Ledger"
      note={
        <Link href={ledger} className="hover:text-ink hover:underline">
          All lines and statements
        </Link>
      }
    >
      {lines.length > 0 ? (
        <LedgerTable
          framed={false}
          columns={shownColumns('ledger', null)}
          rows={lines.map((line) => ledgerRowOf(line, { workspace, zone }))}
        />
      ) : (
        <p className="px-4 py-8 text-center text-muted">No ledger lines yet.</p>
      )}
    </Section>
  );
}
