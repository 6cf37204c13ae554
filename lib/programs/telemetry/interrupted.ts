import { join } from 'node:path';
import type { Pool } from 'pg';
import type { CloseEntry } from '#lib/gateway/settlement/pure/entry';
import { recordOf } from '#lib/gateway/settlement/record/frame';
import { encodeEntry } from '#lib/gateway/settlement/record/payload';
import { replaceFile } from '#lib/gateway/settlement/set-aside';
import { makeExportFolder } from '#lib/programs/telemetry/export-files';

/**
 * Stores for the exporter the calls that a dead process left open, because their ends are in no journal. Calls that the
 * log has with another end were exported with it.
 * @throws Error of the database or the file system.
 */
export async function shelveInterrupted(
  pool: Pool,
  journalDir: string,
  ownerId: string,
  ended: readonly CloseEntry[],
): Promise<void> {
  const logged = await pool.query<{ id: string }>(
    `SELECT id FROM call WHERE id = ANY($1::uuid[]) AND end_reason = 'interrupted'`,
    [ended.map(({ callId }) => callId)],
  );
  const ids = new Set(logged.rows.map(({ id }) => id));
  const records = ended.filter(({ callId }) => ids.has(callId)).map((end) => recordOf(encodeEntry(end)));
  replaceFile(join(makeExportFolder(journalDir), `${ownerId}-interrupted.log`), Buffer.concat(records));
}
