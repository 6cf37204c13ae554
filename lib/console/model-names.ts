import type { Db } from '#lib/data/db';

/** The ids of all models that have an offer in the catalogue, in order of the alphabet. */
export async function listModelNames(db: Db): Promise<string[]> {
  const models = await db.prisma.model.findMany({
    where: { offers: { some: { withdrawnAt: null } } },
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  return models.map((model) => model.id);
}

/**
 * A model that a chat example may name: one whose offer speaks that protocol; null without any.
 * @param usable those that can be routed to now, so that the example works as pasted; null: unknown.
 */
export async function findExampleModel(db: Db, usable: ReadonlySet<string> | null): Promise<string | null> {
  const among = usable && usable.size > 0 ? { modelId: { in: [...usable] } } : {};
  const offer = await db.prisma.offer.findFirst({
    where: { withdrawnAt: null, families: { has: 'chat' }, prices: { some: {} }, ...among },
    select: { modelId: true },
    orderBy: [{ position: 'asc' }, { modelId: 'asc' }],
  });
  return offer?.modelId ?? null;
}
