import { FlaskConical } from 'lucide-react';
import type { Metadata } from 'next';
import Link from 'next/link';
import { PageHead } from '#components/page-head';
import { Playground } from '#components/playground/playground';
import { buttonStyle } from '#components/ui/button';
import { EmptyState } from '#components/ui/empty-state';
import { getConsoleHost } from '#lib/console/db';
import { readSnippets } from '#lib/console/guide/snippets';
import { lockOf } from '#lib/console/lock';
import { type Membership, requireMember } from '#lib/console/member';
import { showFamily } from '#lib/console/models/family-names';
import { readModels } from '#lib/console/models/list';
import { playgroundModels } from '#lib/console/playground/choices';
import { type PlaygroundFamily, playgroundFamilies } from '#lib/console/playground/draft';
import { openPlaygroundAction } from './actions';

export const metadata: Metadata = { title: 'Playground' };

const familyNames = Object.fromEntries(
  playgroundFamilies.map((family) => [family, showFamily(family)]),
) as Record<PlaygroundFamily, string>;
const purpose =
  'These are real calls, like those of your programs: they are charged and logged, and your limits and routing apply.';

interface PlaygroundPageProps {
  params: Promise<{ workspace: string }>;
}

export default async function PlaygroundPage({ params }: PlaygroundPageProps) {
  const member = await requireMember((await params).workspace, 'logs:read');
  const { workspace } = member;
  const models = playgroundModels(await readModels());
  if (models.length === 0) {
    return (
      <>
        <PageHead help="playground" title="Playground">
          {purpose}
        </PageHead>
        <EmptyState
          icon={<FlaskConical />}
          title="No callable models yet"
          action={
            <Link href={`/${workspace.slug}/models`} className={buttonStyle()}>
              See the models
            </Link>
          }
        >
          No model has an offer with a price and a credential. Ask the operator of this gateway to set up a
          provider.
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
      locked={playgroundLock(member)}
      open={openPlaygroundAction}
    >
      {purpose}
    </Playground>
  );
}

/** Why no call can be made here, by an operator neither; null: it can. */
function playgroundLock(member: Membership): string | null {
  const { demo, suspension } = member.workspace;
  if (demo) return 'The demo workspace cannot make calls; use another workspace.';
  if (suspension) return 'This workspace is suspended, so it cannot make calls.';
  return lockOf(member, 'playground:use', 'try models here');
}
