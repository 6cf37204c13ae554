import type { Metadata } from 'next';
import { AccountFrame } from '#components/account/frame';
import { TextLink } from '#components/account/text-link';
import { NewWorkspaceForm } from '#components/members/new-workspace-form';
import { requireUser } from '#lib/console/session';
import { openWorkspaceAction } from './actions';

export const metadata: Metadata = { title: 'New workspace' };

export default async function NewWorkspacePage() {
  await requireUser();
  return (
    <AccountFrame
      title="New workspace"
      lead="A workspace has its own members, keys, limits and balance. You will be its owner."
      below={<TextLink href="/">Back to the console</TextLink>}
    >
      <NewWorkspaceForm open={openWorkspaceAction} />
    </AccountFrame>
  );
}
