import type { Db } from '#lib/platform/data/db';

/** A member of a workspace. @returns the address. */
export async function addPerson(db: Db, workspaceId: string, role: string): Promise<string> {
  const email = `${role}-${crypto.randomUUID()}@example.com`;
  const user = await db.prisma.user.create({ data: { id: crypto.randomUUID(), email } });
  await db.prisma.member.create({ data: { userId: user.id, workspaceId, role } });
  return email;
}
