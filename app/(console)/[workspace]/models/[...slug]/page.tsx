import { FlaskConical, Route, ScrollText } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { ModelPage } from '#components/models/model-page';
import { destinationHref, destinations } from '#components/shell/navigation';
import { buttonStyle } from '#components/ui/button';
import { requireMember } from '#lib/console/member';
import { requireModel, viewModel } from '#lib/console/models/page';
import { readForPage } from '#lib/console/operation';
import { isCallable } from '#lib/control/catalogue/search';
import { modelPerformance } from '#lib/control/operations/catalogue/performance';

/** The navigation lists only pages that exist. */
const mayRoute = destinations.some(({ pages }) => pages.some(({ path }) => path === 'routing'));

interface MemberModelPageProps {
  params: Promise<{ workspace: string; slug: string[] }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export async function generateMetadata({ params }: Pick<MemberModelPageProps, 'params'>): Promise<Metadata> {
  return { title: (await requireModel((await params).slug)).name };
}

export default async function MemberModelPage({ params, searchParams }: MemberModelPageProps) {
  const { workspace: slug, slug: parts } = await params;
  const { workspace } = await requireMember(slug, 'logs:read');
  const model = await requireModel(parts);
  const { sort } = await searchParams;
  const performance = await readForPage(modelPerformance, workspace.slug, { model: model.id });
  const list = `/${workspace.slug}/models`;
  const about = (page: string) =>
    `${destinationHref(workspace.slug, page)}?model=${encodeURIComponent(model.id)}`;
  return (
    <ModelPage
      {...(await viewModel(model, { list, zone: workspace.timeZone, performance, sort }))}
      measured="Measured on this workspace’s calls in the last 7 days."
      actions={
        <>
          {isCallable(model) ? (
            <Link href={about('playground')} prefetch={false} className={buttonStyle()}>
              <FlaskConical />
              Try it
            </Link>
          ) : null}
          {mayRoute ? (
            <Link href={about('routing')} prefetch={false} className={buttonStyle()}>
              <Route />
              Use in routing
            </Link>
          ) : null}
          <Link href={about('logs')} prefetch={false} className={buttonStyle()}>
            <ScrollText />
            View calls
          </Link>
        </>
      }
    />
  );
}
