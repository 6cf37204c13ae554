import type { ReactNode } from 'react';
import { Section } from '#components/section';

interface KeyFactsProps {
  facts: readonly { readonly name: string; readonly value: ReactNode; readonly exact?: string }[];
}

/** The details of a key other than its use. */
export function KeyFacts({ facts }: KeyFactsProps) {
  return (
    <Section title="Key details">
      <dl className="px-4 py-2">
        {facts.map(({ name, value, exact }) => (
          <div key={name} className="grid grid-cols-[7rem_minmax(0,1fr)] items-baseline gap-3 py-1.5">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 [overflow-wrap:anywhere]" title={exact}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
