import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '#lib/platform/data/embedded';
import { migrate } from '#lib/platform/data/migrate';
import { copyMigrations, hourlyVersion } from '#tests/support/shared/migrations';

/**
 * The state of a directory's embedded database: created and empty, as of `hourlyVersion`, or with all
 * migrations.
 */
type EmbeddedState = 'made' | 'hourly' | 'migrated';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** The files that determine the contents of a new one. */
const sources = [
  'package-lock.json',
  'lib/platform/data',
  'prisma/migrations',
  'tests/support/shared/migrations.ts',
];

/**
 * A new DATA_DIR with an embedded database. It is copied in some 100 ms; creating and migrating one would
 * keep a core busy for seconds.
 */
export async function embeddedDirectory(state: EmbeddedState): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-embedded-'));
  cpSync(join(await templateOf(state), 'db'), join(directory, 'db'), { recursive: true });
  return directory;
}

/**
 * The directory to copy from, shared by all parts of a run and by later runs until one of its sources
 * changes.
 */
async function templateOf(state: EmbeddedState): Promise<string> {
  const folder = join(root, 'node_modules/.cache/embedded');
  const template = join(folder, `${state}-${hashOf(sources)}`);
  if (existsSync(template)) return template;
  mkdirSync(folder, { recursive: true });
  const directory = mkdtempSync(join(folder, 'new-'));
  if (state !== 'made') cpSync(await templateOf('made'), directory, { recursive: true });
  const embedded = await openEmbedded(directory, 'command');
  if (state !== 'made')
    await migrate(embedded.url, state === 'hourly' ? copyMigrations(hourlyVersion) : undefined);
  await embedded.close();
  try {
    renameSync(directory, template);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    // Another process has created it meanwhile.
    if (!existsSync(template)) throw error;
  }
  return template;
}

function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    const names = path.includes('.')
      ? ['']
      : readdirSync(join(root, path), { recursive: true, encoding: 'utf8' });
    for (const name of names.sort()) {
      const file = join(root, path, name);
      if (/\.\w+$/.test(file)) hash.update(`${path}/${name}\0`).update(readFileSync(file)).update('\0');
    }
  }
  return hash.digest('hex').slice(0, 16);
}
