import { FlaskConical } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { PageHead } from '#components/page-head';
import { Playground } from '#components/playground/playground';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { getConsoleHost } from '#lib/console/db';
import { readSnippets } from '#lib/console/guide/snippets';
import { requireMember } from '#lib/console/member';
import { readModels } from '#lib/console/models/list';
import { showFamily } from '#lib/console/models/rows';
import { playgroundModels } from '#lib/console/playground/choices';
import { may, rolesThatMay } from '#lib/core/role';
import { openPlaygroundAction } from './actions';

export const metadata: Metadata = { title: 'Playground' };

const familyNames = {
  chat: showFamily('chat'),
  responses: showFamily('responses'),
  messages: showFamily('messages'),
  'generate-content': showFamily('generate-content'),
  images: showFamily('images'),
  videos: showFamily('videos'),
};
const purpose =
  'Calls go through the gateway as those of your programs do: they are charged, logged, and held to limits and routing.';

interface PlaygroundPageProps {
  params: Promise<{ workspace: string }>;
}

export default async function PlaygroundPage({ params }: PlaygroundPageProps) {
  const { workspace, role } = await requireMember((await params).workspace, 'logs:read');
  const models = playgroundModels(await readModels());
  if (models.length === 0) {
    return (
      <>
        <PageHead title="Playground">{purpose}</PageHead>
        <EmptyState
          icon={<FlaskConical />}
          title="No model can be called yet"
          action={
            <Link href={`/${workspace.slug}/models`} className={buttonStyle()}>
              See the models
            </Link>
          }
        >
          The catalogue has no offer with a price and a credential. The people who run this gateway set
          providers up.
        </EmptyState>
      </>
    );
  }
  const snippets = await readSnippets(getConsoleHost().env.publicUrl);
  return (
    <Playground
      key={workspace.slug}
      workspace={workspace.slug}
      models={models}
      familyNames={familyNames}
      examples={snippets}
      locked={lockOf(role, workspace)}
      open={openPlaygroundAction}
    >
      {purpose}
    </Playground>
  );
}

/** Why nothing can be asked here; null: it can. */
function lockOf(role: Parameters<typeof may>[0], { demo, suspended }: { demo: boolean; suspended: boolean }) {
  if (demo) return 'Nothing in the demo workspace can make calls; use another workspace.';
  if (suspended) return 'This workspace is suspended, so it makes no calls.';
  return may(role, 'playground:use')
    ? null
    : `Your role is ${role}. Ask an ${rolesThatMay('playground:use')} to try models here.`;
}
