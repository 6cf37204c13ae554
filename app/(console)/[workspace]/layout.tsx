import { notFound } from 'next/navigation';
import type { ReactNode } from 'react';
import { BalanceChip } from '#components/shell/balance-chip';
import { Shell } from '#components/shell/shell';
import { getConsoleHost } from '#lib/console/db';
import { requireMember } from '#lib/console/member';
import { showMoney } from '#lib/console/show/money';
import { parseUsd } from '#lib/money';
import { listMemberships } from '#lib/queries/members';
import { findStanding } from '#lib/queries/workspaces';

interface WorkspaceLayoutProps {
  children: ReactNode;
  params: Promise<{ workspace: string }>;
}

export default async function WorkspaceLayout({ children, params }: WorkspaceLayoutProps) {
  const { workspace: slug } = await params;
  const { user, role, workspace } = await requireMember(slug, 'workspace:read');
  const { db } = getConsoleHost();
  const [found, memberships] = await Promise.all([
    findStanding(db, workspace.id),
    listMemberships(db, user.id),
  ]);
  if (!found) notFound();
  return (
    <Shell
      current={{ slug: workspace.slug, name: workspace.name }}
      workspaces={memberships.map(({ workspace: { slug, name } }) => ({ slug, name }))}
      email={user.email}
      name={user.name}
      role={role}
      balance={
        <BalanceChip
          available={showMoney(found.available)}
          exact={found.available}
          empty={parseUsd(found.available) <= 0n}
        />
      }
    >
      {found.suspended ? (
        <p role="status" className="rounded-lg bg-bad-soft px-4 py-2.5 text-bad leading-5">
          This workspace is suspended: every call is refused with 403. Ask the people who run this gateway.
        </p>
      ) : null}
      {children}
    </Shell>
  );
}
