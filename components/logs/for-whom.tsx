import Link from 'next/link';
import { Section } from '#components/section';

interface ForWhomProps {
  readonly endUser: string | null;
  /** "feature=search" */
  readonly tags: readonly string[];
  /** Path of the log. */
  readonly log: string;
}

/** The end user and the tags of a call, each with a link to its calls; nothing if none was recorded. */
export function ForWhom({ endUser, tags, log }: ForWhomProps) {
  if (endUser === null && tags.length === 0) return null;
  const rows = [
    ...(endUser === null ? [] : [{ name: 'End user', filter: 'endUser', text: endUser }]),
    ...tags.map((text) => ({ name: 'Tag', filter: 'tag', text })),
  ];
  return (
    <Section title="For whom">
      <dl className="divide-y">
        {rows.map(({ name, filter, text }) => (
          <div key={`${name} ${text}`} className="grid gap-x-4 gap-y-0.5 px-4 py-2.5 sm:grid-cols-[7rem_1fr]">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 [overflow-wrap:anywhere]">
              <Link
                href={`${log}?${new URLSearchParams({ [filter]: text })}`}
                prefetch={false}
                className="underline underline-offset-2"
              >
                {text}
              </Link>
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
