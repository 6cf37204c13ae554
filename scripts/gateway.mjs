// Runs the command line on Node 24, from any directory.
import { join } from 'node:path';
import { launch, root } from './bootstrap.mjs';

await launch([join(root, 'dist/gateway.js'), ...process.argv.slice(2)], { cwd: process.cwd() });
