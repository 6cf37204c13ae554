import { openEmbedded } from '#lib/platform/data/embedded';

// A process that holds the embedded database: `node embedded-holder.ts <data dir> <role>`.

const [dataDir = '', role] = process.argv.slice(2);
const embedded = await openEmbedded(dataDir, role === 'server' ? 'server' : 'command');
console.log(embedded.url);
process.stdin.resume().on('close', async () => {
  await embedded.close();
  process.exit(0);
});
