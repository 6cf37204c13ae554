import { randomBytes } from 'node:crypto';
import { parseFields } from '#lib/control/operations/field/field';
import { isUuid } from '#lib/control/operations/field/kinds';
import { columnsOf } from '#lib/control/operations/field/settings';
import { createKey } from '#lib/control/operations/key/operations';
import { newSecret } from '#lib/control/operations/key/secret';
import { keySettings } from '#lib/control/operations/key/settings';
import { createWorkspace } from '#lib/control/operations/workspace/operations';
import { newWorkspaceLimits, workspaceSettings } from '#lib/control/operations/workspace/settings';
import { publish } from '#lib/platform/data/change';
import type { Db } from '#lib/platform/data/db';
import { newRowId } from '#lib/platform/data/row-id';

// Rows that tests begin with, as the operations would write them, but without audit rows. Tests create
// thousands, and with operations it takes several times as long; tests/gateway/control tests those.

/**
 * Inserts a workspace. No gateway knows it yet, so none has to be notified.
 * @param settings as `workspace.create` takes them.
 */
export async function insertWorkspace(
  db: Db,
  settings: Readonly<Record<string, unknown>>,
): Promise<{ id: string; slug: string }> {
  const unique = randomBytes(4).toString('hex');
  const input = parseFields(createWorkspace.fields, { name: `Test ${unique}`, ...settings });
  const id = newRowId();
  const slug = `test-${unique}`;
  const columns = columnsOf(workspaceSettings, input);
  await insert(db, 'workspace', { id, slug, ...newWorkspaceLimits, ...columns });
  return { id, slug };
}

/**
 * Inserts a key and notifies gateways, which distinguish existing keys from made-up ones.
 * @param workspace its slug or id.
 * @param settings as `key.create` takes them.
 */
export async function insertKey(
  db: Db,
  workspace: string,
  settings: Readonly<Record<string, unknown>>,
  pepper: string,
): Promise<{ id: string; key: string }> {
  const input = parseFields(createKey.fields, { name: 'test', ...settings });
  const column = isUuid(workspace) ? 'id' : 'slug';
  const { rows } = await db.pool.query<{ id: string }>(`SELECT id FROM workspace WHERE ${column} = $1`, [
    workspace,
  ]);
  const [place] = rows;
  if (!place) throw new Error(`there is no workspace ${workspace}`);
  const id = newRowId();
  const { key, columns } = newSecret(pepper);
  const settled = { models: [], ...columnsOf(keySettings, input) };
  await insert(db, 'api_key', { id, workspaceId: place.id, ...columns, ...settled });
  await publish(db.pool, [{ kind: 'key', subject: id }]);
  return { id, key };
}

/** @param row by field names of Prisma's model. */
async function insert(db: Db, table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
  const names = Object.keys(row).map(columnOf);
  const places = names.map((_, at) => `$${at + 1}`);
  await db.pool.query(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`,
    Object.values(row),
  );
}

/** "d7CapNano" → "d7_cap_nano". */
export function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
