import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1024 * 1024;
const FEWEST_MIB = 16;
/** PostgreSQL's own default. */
const MOST_MIB = 128;

/**
 * The engine's `shared_buffers` for the database in `place`: half of what its files take, 16 to 128 MiB. The engine
 * writes to all of them when it starts, so that a small database would keep 128 MiB resident for nothing
 * (docs/decisions/memory-at-rest.md).
 */
export function buffersFor(place: string): `${number}MB` {
  const files = readdirSync(join(place, 'base'), { recursive: true, withFileTypes: true });
  const bytes = files
    .filter((file) => file.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return `${Math.min(MOST_MIB, Math.max(FEWEST_MIB, Math.ceil(bytes / 2 / MIB)))}MB`;
}
