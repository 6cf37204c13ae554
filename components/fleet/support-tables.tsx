import Link from 'next/link';
import { InnerTable } from '#components/fleet/inner-table';
import { Section } from '#components/section';
import type { SupportRow } from '#lib/console/team/support-rows';

type SupportTablesProps = Readonly<
  Record<'promos' | 'members' | 'keys' | 'refusals' | 'calls' | 'trail', readonly SupportRow[]>
>;

const tables = [
  {
    name: 'calls',
    title: 'Latest failed calls',
    columns: ['Call', 'Response', 'Model', 'Provider', 'Time'],
    none: 'No failed calls.',
  },
  {
    name: 'trail',
    title: 'Latest changes',
    columns: ['Change', 'Time'],
    none: 'No changes yet.',
  },
  {
    name: 'refusals',
    title: 'Limits that refused calls recently',
    columns: ['Limit', 'Time', 'Call'],
    none: 'No calls have been refused by a limit recently.',
  },
  {
    name: 'promos',
    title: 'Expiring promo credits',
    columns: ['Reason', 'Amount', 'Remaining', 'Expires'],
    none: 'No promo credits that expire.',
  },
  { name: 'members', title: 'Members', columns: ['Email', 'Role'], none: 'No members.' },
  {
    name: 'keys',
    title: 'Newest 20 API keys',
    columns: ['Name', 'Key', 'Status'],
    none: 'No API keys.',
  },
] as const;

/** What the support view shows of a workspace, read-only. */
export function SupportTables(rows: SupportTablesProps) {
  return (
    <div className="grid min-w-0 items-start gap-6 lg:grid-cols-2 lg:[&>:nth-child(-n+2)]:col-span-2">
      {tables.map(({ name, title, columns, none }) => (
        <Section key={name} title={title}>
          <InnerTable
            label={title}
            columns={columns.map((column) => ({ title: column }))}
            none={none}
            rows={rows[name].map(({ id, cells }) => ({
              id,
              cells: cells.map((cell) =>
                typeof cell === 'string' ? (
                  <span key={cell} className="block min-w-20 [overflow-wrap:anywhere]">
                    {cell}
                  </span>
                ) : (
                  <Link
                    key={cell.href}
                    href={cell.href}
                    prefetch={false}
                    className="font-mono text-xs underline-offset-2 hover:underline"
                  >
                    {cell.text}
                  </Link>
                ),
              ),
            }))}
          />
        </Section>
      ))}
    </div>
  );
}
