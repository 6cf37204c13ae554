// `npm run check`: the fast checks: types, lint, dead code and unit tests.
import { prepare } from '../bootstrap.mjs';
import { checkDeadCode, checkStyle, checkTypes, runSpecs, sumUp } from './steps.mjs';

const node = await prepare({ tests: true });
await sumUp(
  [
    ['types', () => checkTypes(node)],
    ['lint', () => checkStyle(node)],
    ['dead', () => checkDeadCode(node)],
    ['unit', () => runSpecs(node, ['unit'])],
  ],
  [],
  performance.now(),
);
