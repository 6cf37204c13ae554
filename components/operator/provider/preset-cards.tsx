import Link from 'next/link';
import { Badge } from '#components/ui/badge';
import type { ShownPreset } from '#lib/control/operations/provider/presets';

const groups = [
  { kind: 'server', title: 'On your own machines' },
  { kind: 'compatible', title: 'Any compatible address' },
  { kind: 'service', title: 'Services' },
] as const;

/** What a provider can be made from; one that exists already leads to its page. */
export function PresetCards({ presets }: { presets: readonly ShownPreset[] }) {
  return groups.map(({ kind, title }) => (
    <section key={kind} aria-label={title} className="grid gap-2.5">
      <h2 className="font-semibold text-[0.8125rem]">{title}</h2>
      <ul className="grid gap-2.5 sm:grid-cols-2 lg:grid-cols-3">
        {presets
          .filter((preset) => preset.kind === kind)
          .map(({ id, name, url, provider }) => (
            <li key={id}>
              <Link
                href={provider ? `/operator/providers/${provider}` : `/operator/providers/add?preset=${id}`}
                prefetch={false}
                className="grid h-full content-start gap-1 rounded-lg border bg-surface px-4 py-3 hover:border-line-strong hover:bg-hover"
              >
                <span className="flex items-center justify-between gap-3">
                  <span className="font-medium">{name}</span>
                  {provider ? <Badge tone="outline">Added</Badge> : null}
                </span>
                <span className="text-muted text-xs leading-4 [overflow-wrap:anywhere]">
                  {url ? url.replace(/^https?:\/\//, '') : 'You give the address'}
                </span>
              </Link>
            </li>
          ))}
      </ul>
    </section>
  ));
}
