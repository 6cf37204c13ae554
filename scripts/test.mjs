// `npm test`: everything. Its last line is "N passed, N failed", and the skipped ones when there are any.
import { prepare } from './bootstrap.mjs';
import { checkDeadCode, checkStyle, checkTypes, runBrowserTests, runSpecs, sumUp } from './steps.mjs';
import { provideTools } from './tools.mjs';

const missing = provideTools();
if (missing.length > 0) {
  console.error(missing.join('\n'));
  console.log(`\n0 passed, ${missing.length} failed`);
  process.exit(1);
}

try {
  const node = await prepare({ build: true });
  await sumUp([
    () => checkTypes(node),
    () => checkStyle(node),
    () => checkDeadCode(node),
    () => runSpecs(node, 'unit'),
    () => runSpecs(node, 'gateway'),
    () => runSpecs(node, 'fleet'),
    () => runBrowserTests(node),
  ]);
} catch (error) {
  console.error(error.message);
  console.log('\n0 passed, 1 failed');
  process.exitCode = 1;
}
