import type { Context } from '#lib/control/operations/declare';
import { badInput, quoted } from '#lib/control/operations/refusal';

/**
 * Slugs that are not in the catalogue would silently lock a key or a credential out. @param models null: all.
 * @throws ControlRefused.
 */
export async function refuseUnknownModels(
  { store }: Context,
  models: string[] | null | undefined,
): Promise<void> {
  if (!models) return;
  const known = await store.prisma.model.findMany({ where: { id: { in: models } }, select: { id: true } });
  const unknown = models.filter((slug) => !known.some((model) => model.id === slug));
  if (unknown.length === 0) return;
  const names = unknown.slice(0, 10).map(quoted).join(', ');
  throw badInput(
    'models',
    `the catalogue has no ${names}; "gateway catalogue list" and GET /api/v1/models list all models`,
  );
}
