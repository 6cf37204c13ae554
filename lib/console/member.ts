import { headers } from 'next/headers';
import { notFound, redirect } from 'next/navigation';
import { cache } from 'react';
import { getConsoleHost } from '#lib/console/db';
import { type ConsoleUser, findUser, requireUser } from '#lib/console/session';
import { may, type Permission, type Role, roleOf } from '#lib/control/role';
import { findMembership, findRenamed } from '#lib/queries/members';

/** A signed-in user in a workspace that they belong to. */
export interface Membership {
  readonly user: ConsoleUser;
  readonly role: Role;
  readonly workspace: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly timeZone: string;
  };
}

const readMembership = cache(async (slug: string, userId: string) =>
  findMembership(getConsoleHost().db, { slug, userId }),
);

/** The membership of whoever is signed in; null for strangers, for nobody, and for unknown workspaces. */
export async function findMember(slug: string): Promise<Membership | null> {
  const user = await findUser();
  if (!user) return null;
  const found = await readMembership(slug, user.id);
  const role = found ? roleOf(found.role) : null;
  return found && role ? { user, role, workspace: found.workspace } : null;
}

/**
 * Authorises a page. Without a session: to the sign-in page. A workspace of others, an unknown one and
 * a role without the permission are one and the same not-found page, so that nobody can probe names.
 */
export async function requireMember(slug: string, permission: Permission): Promise<Membership> {
  const user = await requireUser();
  const member = await findMember(slug);
  if (!member) await leadOn(slug, user.id);
  if (!member || !may(member.role, permission)) notFound();
  return member;
}

/** From an address that a workspace of the user had before it was renamed to the same page under its new one. */
async function leadOn(slug: string, userId: string): Promise<void> {
  const renamed = await findRenamed(getConsoleHost().db, { slug, userId });
  if (renamed === null) return;
  const rest = ((await headers()).get('x-console-path') ?? '').replace(/^\/[^/?#]+/, '');
  redirect(`/${renamed}${rest}`);
}
