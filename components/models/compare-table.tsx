import { X } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { Section } from '#components/section';
import { buttonStyle } from '#components/ui/button';
import { ScrollRegion } from '#components/ui/scroll-region';
import type { ModelRow } from '#lib/console/models/rows';

interface CompareTableProps {
  models: readonly (ModelRow & { readonly without: string })[];
  most: number;
  /** URL of the list without a comparison. */
  clearHref: string;
}

const facts: readonly { readonly name: string; show(model: ModelRow): ReactNode }[] = [
  { name: 'Input / 1M', show: ({ input }) => input ?? '–' },
  { name: 'Output / 1M', show: ({ output }) => output ?? '–' },
  { name: 'Context', show: ({ context }) => context ?? '–' },
  { name: 'Max output', show: ({ maxOutput }) => maxOutput ?? '–' },
  { name: 'Input types', show: ({ reads }) => reads },
  { name: 'Output types', show: ({ writes }) => writes },
  { name: 'Capabilities', show: ({ capabilities }) => capabilities.join(', ') || '–' },
  { name: 'Protocols', show: ({ families }) => families.join(', ') },
  { name: 'By translation', show: ({ translated }) => translated.join(', ') || '–' },
  { name: 'Offered by', show: ({ providers }) => providers.join(', ') },
  { name: 'Released', show: ({ released }) => released ?? '–' },
  { name: 'Retires', show: ({ retires }) => retires ?? '–' },
  { name: 'On this gateway', show: ({ callable }) => (callable ? 'Available' : 'Not available') },
];

/** Models side by side. */
export function CompareTable({ models, most, clearHref }: CompareTableProps) {
  return (
    <Section
      title={`Comparison of ${models.length}`}
      note={
        models.length < most ? (
          `Select up to ${most - models.length} more in the table.`
        ) : (
          <>This is the maximum.</>
        )
      }
    >
      <ScrollRegion label="Comparison">
        <table className="w-full text-sm">
          <thead>
            <tr>
              <th scope="col" className="px-4 py-2 text-left">
                <Link href={clearHref} scroll={false} className={buttonStyle({ size: 'small' })}>
                  <X />
                  Close
                </Link>
              </th>
              {models.map((model) => (
                <th key={model.id} scope="col" className="min-w-44 px-4 py-2 text-left align-top font-normal">
                  <Link href={model.href} className="font-medium hover:underline">
                    {model.name}
                  </Link>
                  <code className="block font-mono text-muted text-xs [overflow-wrap:anywhere]">
                    {model.id}
                  </code>
                  <Link
                    href={model.without}
                    scroll={false}
                    className="text-muted text-xs underline hover:text-ink"
                    aria-label={`Remove ${model.name} from the comparison`}
                  >
                    Remove
                  </Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {facts.map(({ name, show }) => (
              <tr key={name} className="border-t">
                <th
                  scope="row"
                  className="whitespace-nowrap px-4 py-2 text-left font-normal text-muted text-xs"
                >
                  {name}
                </th>
                {models.map((model) => (
                  <td key={model.id} className="px-4 py-2 align-top tabular-nums">
                    {show(model)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}
