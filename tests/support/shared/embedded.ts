import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '#lib/data/embedded';
import { migrate } from '#lib/data/migrate';

/** How far the embedded database of a directory is: made and empty, or with all migrations applied. */
export type EmbeddedState = 'made' | 'migrated';

/**
 * A DATA_DIR of its own with an embedded database: a copy, some 100 ms, where making and migrating one keeps a
 * core busy for seconds.
 */
export async function embeddedDirectory(state: EmbeddedState): Promise<string> {
  const answer = await fetch(`${process.env.TEST_STACKS_URL}/embedded/${state}`);
  const template = await answer.text();
  if (!answer.ok) throw new Error(`the embedded database to copy was not made: ${template}`);
  const directory = mkdtempSync(join(tmpdir(), 'gateway-embedded-'));
  cpSync(join(template, 'db'), join(directory, 'db'), { recursive: true });
  return directory;
}

/** Makes the directory to copy from. */
export async function makeEmbedded(state: EmbeddedState): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), `gateway-embedded-${state}-`));
  const embedded = await openEmbedded(directory, 'command');
  if (state === 'migrated') await migrate(embedded.url);
  await embedded.close();
  return directory;
}
