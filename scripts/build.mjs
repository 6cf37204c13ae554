// `npm run build`: everything that `npm start` would do first, so that a start has nothing left to write: packages, the
// database client, the console's pages. CONSOLE=off leaves the pages out.
import { prepare } from './bootstrap.mjs';

try {
  await prepare({ build: !/^(off|false|0|no)$/i.test(process.env.CONSOLE ?? '') });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
