import { openEmbedded } from '#lib/data/embedded';
import { migrate } from '#lib/data/migrate';

const address = process.env.DATABASE_URL;
const embedded = address ? null : await openEmbedded(process.env.DATA_DIR ?? '.data', 'command');
try {
  const applied = await migrate(address ?? embedded?.url ?? '');
  console.log(applied.length > 0 ? `Applied: ${applied.join(', ')}` : 'Nothing to apply.');
} finally {
  await embedded?.close();
}
