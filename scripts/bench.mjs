// `npm run bench -- …`: the load tests; tools/bench/README.md describes the others.
import { launch } from './bootstrap.mjs';

const [first, ...rest] = process.argv.slice(2);
if (first === 'departures') await launch(['tools/bench/departures.ts', ...rest]);
else if (['content', 'settlement', 'limits', 'log', 'stores'].includes(first))
  await launch([`tools/bench/${first}/index.ts`, ...rest]);
else await launch(['tools/bench/index.ts', ...process.argv.slice(2)], { build: () => true });
