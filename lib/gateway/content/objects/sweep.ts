import type { Pool } from 'pg';
import type { ObjectWriter } from '#lib/gateway/content/objects/object-store';
import { queryWithin } from '#lib/platform/data/query-within';

/** Objects of one claim, and how many are deleted at the same time. */
const CLAIMED = 320;
const TOGETHER = 32;
const STATEMENT_MS = 5_000;

/** Another process takes them up when this one was killed; never again so late that content could come to refer to it. */
const claim = `
  UPDATE content_object SET delete_after = now() + interval '10 minutes' WHERE name IN (
    SELECT name FROM content_object WHERE call_id IS NULL AND delete_after < now()
    ORDER BY delete_after LIMIT ${CLAIMED} FOR UPDATE SKIP LOCKED)
  RETURNING name`;
const forget = 'DELETE FROM content_object WHERE name = ANY ($1::text[]) AND call_id IS NULL';

/**
 * Deletes objects to which no content refers: it was deleted, or its process was killed before it was kept
 * (contract: content/store). A row is deleted after its object, so that what fails is tried again.
 * @param stopped asked between two objects.
 * @throws StoreProblem: some are left.
 */
export async function deleteObjects(pool: Pool, store: ObjectWriter, stopped: () => boolean): Promise<void> {
  const query = queryWithin(pool, STATEMENT_MS);
  while (!stopped()) {
    const { rows } = await query<{ name: string }>(claim);
    const names = rows.map(({ name }) => name);
    for (let at = 0; at < names.length && !stopped(); at += TOGETHER) {
      const some = names.slice(at, at + TOGETHER);
      const ended = await Promise.allSettled(some.map((name) => store.remove(name)));
      await query(forget, [some.filter((_, place) => ended[place]?.status === 'fulfilled')]);
      const failed = ended.find((one) => one.status === 'rejected');
      if (failed) throw failed.reason;
    }
    if (names.length < CLAIMED) return;
  }
}
