// `npm run build`: everything that `npm start` would prepare, so that a start writes nothing: packages, the database
// client, the server's bundle, the console's pages. CONSOLE=off leaves out the pages.
import { prepare } from './bootstrap.mjs';

try {
  await prepare({ bundle: true, build: !/^(off|false|0|no)$/i.test(process.env.CONSOLE ?? '') });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
