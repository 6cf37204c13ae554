// `npm run bench -- …`: the load tests of bench/.
import { launch } from './bootstrap.mjs';

await launch(['bench/index.ts', ...process.argv.slice(2)], { build: true });
