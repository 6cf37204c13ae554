// `node scripts/departures.mjs`: what clients that leave are charged, on the simulated provider.
import { launch } from './bootstrap.mjs';

await launch(['bench/departures.ts', ...process.argv.slice(2)]);
