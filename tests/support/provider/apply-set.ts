import { applyWithin } from '#lib/catalogue/apply';
import type { CatalogueSet } from '#lib/catalogue/files';
import { newRowId } from '#lib/control/row-id';
import { publish, sqlOf } from '#lib/data/change';
import type { Db } from '#lib/data/db';

/** Puts a catalogue in force that no file holds. */
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
