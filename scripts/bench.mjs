// `npm run bench -- …`: the load tests of bench/; `npm run bench -- departures …`: what clients that leave are charged;
// `npm run bench -- settlement …`: what the database pays for a call;
// `npm run bench -- limits …`: what limits that processes share let pass;
// `npm run bench -- log …`: what a log of millions of calls answers, and how fast.
import { launch } from './bootstrap.mjs';

const [first, ...rest] = process.argv.slice(2);
if (first === 'departures') await launch(['tools/bench/departures.ts', ...rest]);
else if (first === 'settlement') await launch(['tools/bench/settlement/index.ts', ...rest]);
else if (first === 'limits') await launch(['tools/bench/limits/index.ts', ...rest]);
else if (first === 'log') await launch(['tools/bench/log/index.ts', ...rest]);
else await launch(['tools/bench/index.ts', ...process.argv.slice(2)], { build: true });
