import { headers } from 'next/headers';
import { notFound, redirect } from 'next/navigation';
import { cache } from 'react';
import { actorOf, controlHost } from '#lib/console/actor';
import { findUser, requireUser } from '#lib/console/session';
import { ControlRefused } from '#lib/control/operations/refusal';
import { ask } from '#lib/control/operations/run';
import type { SessionUser } from '#lib/control/operations/user/authenticate';
import { visitWorkspace } from '#lib/control/operations/user/own';
import { type ActingRole, may, type Permission } from '#lib/core/role';

/** A signed-in user in one of their workspaces. */
export interface Membership {
  readonly user: SessionUser;
  readonly role: ActingRole;
  readonly workspace: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    /** IANA zone. */
    readonly timeZone: string;
    /** Balance and credit minus holds, in dollars. */
    readonly available: string;
    /** By running calls and jobs, in dollars. */
    readonly held: string;
    /** A hard monthly budget refuses calls. */
    readonly budgetUsedUp: boolean;
    /** The funds are below the threshold that the workspace has set. */
    readonly low: boolean;
    /** Automatic top-ups are on but paused until a member resumes them. */
    readonly topUpsPaused: boolean;
    /** Why it is suspended and whom to ask; null: it is not. */
    readonly suspension: { readonly reason: string | null; readonly contact: string | null } | null;
    /** Made-up calls and money. */
    readonly demo: boolean;
  };
}

/**
 * Queried once per request. null without a session, for users who are not members, and for unknown
 * workspaces.
 */
export const findMember = cache(async (slug: string): Promise<Membership | null> => {
  const user = await findUser();
  if (!user) return null;
  try {
    const asked = { actor: await actorOf(user), workspace: slug, input: {} };
    const { role, ...workspace } = await ask(controlHost(), visitWorkspace, asked);
    return { user, role, workspace };
  } catch (error) {
    if (error instanceof ControlRefused) return null;
    throw error;
  }
});

/**
 * Authorizes a page. Without a session, redirects to the sign-in page. Other people's workspaces, unknown
 * ones, and roles without the permission get the same not-found page, so that names cannot be probed.
 */
export async function requireMember(slug: string, permission: Permission): Promise<Membership> {
  await requireUser();
  const member = await findMember(slug);
  if (!member || !may(member.role, permission)) notFound();
  if (member.workspace.slug !== slug) await sendToCurrentPage(member.workspace.slug);
  return member;
}

/**
 * Redirects from a URL with a former slug, or with the workspace's id, to the same page under its current
 * slug.
 */
async function sendToCurrentPage(slug: string): Promise<never> {
  const rest = ((await headers()).get('x-console-path') ?? '').replace(/^\/[^/?#]+/, '');
  redirect(`/${slug}${rest}`);
}
