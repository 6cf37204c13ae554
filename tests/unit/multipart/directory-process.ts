/** Takes a directory of its own with a file in it, says where, and ends with its parent or at once. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeOwnDirectory } from '#lib/platform/data/directory/own-directory';

const { path } = takeOwnDirectory(process.argv[2] ?? '');
writeFileSync(join(path, 'upload'), 'x');
process.stdout.write(`${path}\n`);
process.stdin.resume().on('end', () => process.exit());
