import type { Db } from '#lib/data/db';

export interface FoundMembership {
  readonly role: string;
  readonly workspace: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    /** IANA zone. */
    readonly timeZone: string;
  };
}

const workspaceFields = { id: true, slug: true, name: true, timeZone: true } as const;

/** One user's place in one workspace; null when there is none or no such workspace. */
export async function findMembership(
  db: Db,
  where: { slug: string; userId: string },
): Promise<FoundMembership | null> {
  // PostgreSQL stores no such character; asked for it, it would raise.
  if (where.slug.includes('\0')) return null;
  return db.prisma.member.findFirst({
    where: { userId: where.userId, workspace: { slug: where.slug } },
    select: { role: true, workspace: { select: workspaceFields } },
  });
}

/** The slug that a workspace of the user has now, by one that it had before; null when there is none. */
export async function findRenamed(db: Db, was: { slug: string; userId: string }): Promise<string | null> {
  if (was.slug.includes('\0')) return null;
  const found = await db.prisma.formerSlug.findFirst({
    where: { slug: was.slug, workspace: { members: { some: { userId: was.userId } } } },
    select: { workspace: { select: { slug: true } } },
  });
  return found?.workspace.slug ?? null;
}

/** All workspaces of a user with their role there, by name. */
export async function listMemberships(db: Db, userId: string): Promise<FoundMembership[]> {
  return db.prisma.member.findMany({
    where: { userId },
    select: { role: true, workspace: { select: workspaceFields } },
    orderBy: [{ workspace: { name: 'asc' } }, { workspaceId: 'asc' }],
  });
}
