import type { Metadata } from 'next';
import { GuidePageView } from '#components/docs/guide-page';
import { Markdown } from '#components/docs/markdown';
import { getConsoleHost } from '#lib/console/db';
import { navigationOf, readChangelog, readGuide } from '#lib/console/guide/read';

export const metadata: Metadata = { title: 'Changelog' };

/** What is new in each version of the gateway, for those who run it. */
export default async function ChangelogPage() {
  const [changelog, pages] = await Promise.all([readChangelog(), readGuide(getConsoleHost().env.publicUrl)]);
  return (
    <GuidePageView
      title={changelog.title}
      headings={changelog.headings}
      pages={navigationOf(pages)}
      current={changelog.slug}
    >
      <Markdown tokens={changelog.tokens} />
    </GuidePageView>
  );
}
