import { fileURLToPath } from 'node:url';
import { readCatalogue } from '#lib/control/catalogue/files';
import type { Db } from '#lib/platform/data/db';
import { applySet } from '#tests/support/provider/apply-set';
import { testCatalogue } from '#tests/support/provider/catalogue';

const sandbox = fileURLToPath(new URL('../../../catalogue/sandbox.yaml', import.meta.url));

/** Applies the simulated provider's catalogue and the tests' own. */
export async function fillCatalogue(db: Db): Promise<void> {
  await applySet(db, await readCatalogue(sandbox));
  await applySet(db, testCatalogue());
}
