import type { Metadata } from 'next';
import Link from 'next/link';
import { ModelPage } from '#components/models/model-page';
import { buttonStyle } from '#components/ui/button';
import { requireModel, viewModel } from '#lib/console/models/page';
import { findUser } from '#lib/console/session';

interface PublicModelPageProps {
  params: Promise<{ slug: string[] }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export async function generateMetadata({ params }: Pick<PublicModelPageProps, 'params'>): Promise<Metadata> {
  const model = await requireModel((await params).slug);
  return {
    title: model.name,
    description: `${model.name} (${model.id}): providers, prices and how to call it.`,
  };
}

/** The public sees what is offered and what it costs; measured figures are only for users who can call it. */
export default async function PublicModelPage({ params, searchParams }: PublicModelPageProps) {
  const model = await requireModel((await params).slug);
  const { sort } = await searchParams;
  const signedIn = (await findUser()) !== null;
  return (
    <ModelPage
      {...(await viewModel(model, { list: '/models', zone: 'UTC', performance: null, sort }))}
      measured={null}
      actions={
        signedIn ? null : (
          <Link href="/sign-in" prefetch={false} className={buttonStyle({ tone: 'primary' })}>
            Sign in to call it
          </Link>
        )
      }
    />
  );
}
