import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Number of checkpoints of running streams in the journal of a data directory. */
export function checkpointsIn(dataDir: string): number {
  const folder = join(dataDir, 'journal');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .map((name) => readFileSync(join(folder, name), 'latin1').split('"checkpoint"').length - 1)
    .reduce((sum, count) => sum + count, 0);
}
