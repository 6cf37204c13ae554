import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import type { ReactNode } from 'react';
import { ApiOperations } from '#components/docs/api-operations';
import { ErrorList } from '#components/docs/error-list';
import { GuidePageView } from '#components/docs/guide-page';
import { Markdown } from '#components/docs/markdown';
import { getConsoleHost } from '#lib/console/db';
import { describedApi } from '#lib/console/guide/api';
import { listControlErrors, listErrors } from '#lib/console/guide/errors';
import { findGuidePage } from '#lib/console/guide/pages';
import { navigationOf, readGuide } from '#lib/console/guide/read';
import { readSettings } from '#lib/console/guide/settings';
import { withCallableModels } from '#lib/console/guide/snippets';
import { callableByFamily, readModels } from '#lib/console/models/list';

interface DocsPageProps {
  params: Promise<{ page: string }>;
}

async function read(slug: string) {
  const place = findGuidePage(slug);
  if (!place) notFound();
  const pages = await readGuide(getConsoleHost().env.publicUrl);
  const page = pages.find((one) => one.slug === place.slug);
  if (!page) notFound();
  return { page, pages: navigationOf(pages) };
}

export async function generateMetadata({ params }: DocsPageProps): Promise<Metadata> {
  const { page } = await read((await params).page);
  return { title: page.title, description: page.summary };
}

export default async function DocsPage({ params }: DocsPageProps) {
  const { page, pages } = await read((await params).page);
  return (
    <GuidePageView title={page.title} headings={page.headings} pages={pages} current={page.slug}>
      <Markdown
        tokens={withCallableModels(page.tokens, callableByFamily(await readModels()))}
        generated={await generatedOf(page.slug)}
      />
    </GuidePageView>
  );
}

/** The parts of a page that are generated from declarations. */
async function generatedOf(slug: string): Promise<Record<string, ReactNode>> {
  switch (slug) {
    case 'errors':
      return {
        'error-codes': <ErrorList errors={listErrors()} />,
        'control-codes': <ErrorList errors={listControlErrors()} />,
      };
    case 'management-api': {
      const { overview, groups } = describedApi();
      return {
        'api-overview': <Markdown tokens={overview} />,
        'api-operations': <ApiOperations groups={groups} />,
      };
    }
    case 'self-hosting':
      return { settings: <Markdown tokens={await readSettings()} /> };
    default:
      return {};
  }
}
