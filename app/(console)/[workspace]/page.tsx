import { redirect } from 'next/navigation';
import { requireMember } from '#lib/console/member';

/** The workspace's own address leads to its keys. */
export default async function WorkspacePage({ params }: { params: Promise<{ workspace: string }> }) {
  const { workspace } = await requireMember((await params).workspace, 'workspace:read');
  redirect(`/${workspace.slug}/keys`);
}
