import { CommandRefused } from '#lib/command/command';
import type { Db } from '#lib/data/db';

/** @throws CommandRefused when there is no workspace with this slug. */
export async function getWorkspaceId(db: Db, slug: string): Promise<{ id: string; slug: string }> {
  const found = await db.prisma.workspace.findUnique({ where: { slug }, select: { id: true, slug: true } });
  if (!found) throw new CommandRefused(`there is no workspace "${slug}"; check its slug`);
  return found;
}
