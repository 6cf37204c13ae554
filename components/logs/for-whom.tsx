import Link from 'next/link';
import { Section } from '#components/section';
import { showForeign } from '#lib/console/show/foreign';
import { tagBudgetHref, tagFilterOf } from '#lib/console/show/tag-links';
import type { Tag } from '#lib/core/facts/tags';

interface ForWhomProps {
  readonly endUser: string | null;
  readonly tags: readonly Tag[];
  /** Slug. */
  readonly workspace: string;
}

/** The end user and the tags of a call, each with a link to its calls; nothing if none was recorded. */
export function ForWhom({ endUser, tags, workspace }: ForWhomProps) {
  if (endUser === null && tags.length === 0) return null;
  const rows = [
    ...(endUser === null ? [] : [{ name: 'End user', text: endUser, tag: null, value: endUser }]),
    ...tags.map(({ name, value }) => ({ name: 'Tag', text: `${name}=${value}`, tag: name, value })),
  ];
  return (
    <Section title="For whom">
      <dl className="divide-y">
        {rows.map(({ name, text, tag, value }) => (
          <div key={`${name} ${text}`} className="grid gap-x-4 gap-y-0.5 px-4 py-2.5 sm:grid-cols-[7rem_1fr]">
            <dt className="text-muted">{name}</dt>
            <dd className="flex min-w-0 flex-wrap items-baseline justify-between gap-x-4 gap-y-1 [overflow-wrap:anywhere]">
              <Link
                href={`/${workspace}/logs?${new URLSearchParams(tagFilterOf(tag, value))}`}
                prefetch={false}
                dir="auto"
                title={`Show all its calls in the log: ${showForeign(text)}`}
                className="min-w-0 underline underline-offset-2"
              >
                {showForeign(text)}
              </Link>
              <Link
                href={tagBudgetHref(workspace, tag, value)}
                prefetch={false}
                aria-label={`Budget and spend of ${showForeign(text)}`}
                className="text-muted text-xs underline underline-offset-2 hover:text-ink"
              >
                Budget and spend
              </Link>
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
