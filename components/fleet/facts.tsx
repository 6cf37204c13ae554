import type { ReactNode } from 'react';

/** Names with their values, side by side if there is room. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-2 gap-x-4 gap-y-3 p-4 sm:gap-x-8 lg:grid-cols-4">
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-muted text-xs leading-5">{name}</dt>
          <dd className="tabular-nums leading-5 [overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
