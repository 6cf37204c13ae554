import type { Metadata } from 'next';
import type { ReactNode } from 'react';
import { DemoBanner } from '#components/demo/demo-banner';
import { VerifyBanner } from '#components/profile/verify-banner';
import { Announcements } from '#components/shell/announcements';
import { BalanceChip } from '#components/shell/balance-chip';
import { Shell } from '#components/shell/shell';
import { SuspendedBanner } from '#components/shell/suspended-banner';
import { actorOf, controlHost } from '#lib/console/actor';
import { getConsoleHost } from '#lib/console/db';
import { findMember, requireMember } from '#lib/console/member';
import { showBalance } from '#lib/console/show/balance';
import { readAnnouncements } from '#lib/console/team/announcements';
import { isOperator } from '#lib/control/operations/actor';
import { ask } from '#lib/control/operations/run';
import { listOwnWorkspaces } from '#lib/control/operations/user/own';
import { requestVerificationAction } from '../../(account)/account/actions';
import { removeDemoAction } from './demo/actions';
import { putAwayAction } from './put-away-action';

interface WorkspaceLayoutProps {
  children: ReactNode;
  params: Promise<{ workspace: string }>;
}

/** So that tabs of several workspaces can be told from each other. */
export async function generateMetadata({ params }: Pick<WorkspaceLayoutProps, 'params'>): Promise<Metadata> {
  const name = (await findMember((await params).workspace))?.workspace.name;
  const end = name ? `${name} · Model Gateway` : 'Model Gateway';
  return { title: { template: `%s · ${end}`, default: end } };
}

export default async function WorkspaceLayout({ children, params }: WorkspaceLayoutProps) {
  const { workspace: slug } = await params;
  const { user, role, workspace } = await requireMember(slug, 'workspace:read');
  const actor = await actorOf(user);
  const asked = { actor, input: {} };
  const own = await ask(controlHost(), listOwnWorkspaces, asked);
  const { env, control } = getConsoleHost();
  const { payments } = control;
  const unverified = actor.unverified === true;
  return (
    <Shell
      current={{ slug: workspace.slug, name: workspace.name }}
      workspaces={own.data.map(({ slug, name }) => ({ slug, name }))}
      email={user.email}
      name={user.name}
      role={role}
      operator={user.operator}
      version={env.version ?? null}
      balance={
        <BalanceChip
          key={workspace.slug}
          balance={showBalance(workspace)}
          address={`/${workspace.slug}/balance`}
        />
      }
    >
      <Announcements announcements={await readAnnouncements(actor)} onPutAway={putAwayAction} />
      {unverified ? (
        <VerifyBanner email={user.email} mails={env.mails === true} request={requestVerificationAction} />
      ) : null}
      {workspace.suspension ? <SuspendedBanner {...workspace.suspension} /> : null}
      {isOperator(actor) && payments && !payments.livemode && !payments.standIn ? (
        <p role="note" className="rounded-lg bg-warn-soft px-4 py-2.5 text-warn leading-5">
          Payments use a Stripe test key: no card is charged, and top-ups add simulated money, which pays only
          for simulated models. Set a live <code>STRIPE_SECRET_KEY</code> before customers pay. Only operators
          see this message.
        </p>
      ) : null}
      {workspace.demo ? (
        <DemoBanner workspace={workspace.slug} remove={role === 'operator' ? removeDemoAction : null} />
      ) : null}
      {children}
    </Shell>
  );
}
