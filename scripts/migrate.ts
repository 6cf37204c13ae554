import { awayOr } from '#lib/platform/data/database-errors';
import { openEmbedded } from '#lib/platform/data/embedded';
import { migrate } from '#lib/platform/data/migrate';
import { loadPlace } from '#lib/platform/env/env';
import { orExplain } from '#lib/programs/process/explain';

const { databaseUrl, dataDir } = await orExplain(loadPlace);
const embedded = databaseUrl === null ? await openEmbedded(dataDir, 'command') : null;
try {
  const applied = databaseUrl
    ? await orExplain(() =>
        migrate(databaseUrl).catch((error: unknown) => Promise.reject(awayOr(error, databaseUrl))),
      )
    : await migrate(embedded?.url ?? '');
  console.log(applied.length > 0 ? `Applied: ${applied.join(', ')}` : 'Nothing to apply.');
} finally {
  await embedded?.close();
}
