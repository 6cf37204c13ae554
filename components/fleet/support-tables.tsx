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
    title: 'Last failed calls',
    columns: ['Call', 'Answer', 'Model', 'Provider', 'When'],
    none: 'No call has failed.',
  },
  {
    name: 'refusals',
    title: 'Limits that refused a call last',
    columns: ['Limit', 'When', 'Call'],
    none: 'No limit has refused a call lately.',
  },
  {
    name: 'promos',
    title: 'Promo credits that expire',
    columns: ['Reason', 'Given', 'Left', 'Expires'],
    none: 'None was given.',
  },
  { name: 'members', title: 'Members', columns: ['E-mail', 'Role'], none: 'It has no member.' },
  {
    name: 'keys',
    title: 'API keys, the newest 20',
    columns: ['Name', 'Shown part', 'Status'],
    none: 'It has no key.',
  },
  {
    name: 'trail',
    title: 'Last changes',
    columns: ['Action', 'Actor', 'When'],
    none: 'Nothing was changed yet.',
  },
] as const;

/** What the support view tells of a workspace, to read alone. */
export function SupportTables(rows: SupportTablesProps) {
  return (
    <div className="grid min-w-0 items-start gap-6 lg:grid-cols-2 lg:[&>:first-child]:col-span-2">
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
