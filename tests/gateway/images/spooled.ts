import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The spooled uploads of a gateway, as paths. */
export function spooledUploads(dataDir: string): string[] {
  const folder = join(dataDir, 'tmp');
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
    .flatMap((path) => readdirSync(path).map((name) => join(path, name)));
}
