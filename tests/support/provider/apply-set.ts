import { applyWithin } from '#lib/control/catalogue/apply';
import type { CatalogueSet } from '#lib/control/catalogue/files';
import { publish, sqlOf } from '#lib/platform/data/change';
import type { Db } from '#lib/platform/data/db';
import { newRowId } from '#lib/platform/data/row-id';

/** Applies a catalogue that is in no file. */
export async function applySet(db: Db, wanted: CatalogueSet): Promise<void> {
  const options = { sealingKey: null, newId: newRowId };
  await db.prisma.$transaction(
    async (tx) => {
      await tx.$executeRaw`LOCK TABLE "provider" IN SHARE ROW EXCLUSIVE MODE`;
      await applyWithin(tx, wanted, options);
      await publish(sqlOf(tx), [{ kind: 'catalogue', subject: '' }]);
    },
    { timeout: 60_000, maxWait: 30_000 },
  );
}
