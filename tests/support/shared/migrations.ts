import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const own = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));

/** The first migration after the version that summed usage by the hour and had a ledger line per call. */
export const hourlyVersion = '20261122140000';

/** A writable copy of the project's migrations, or of those before the named one. */
export function copyMigrations(before?: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-migrations-'));
  cpSync(own, directory, { recursive: true });
  if (before === undefined) return directory;
  for (const name of readdirSync(directory))
    if (name >= before && name !== 'migration_lock.toml') rmSync(join(directory, name), { recursive: true });
  return directory;
}
