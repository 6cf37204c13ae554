import type { Pool } from 'pg';
import type { ContentKeeper } from '#lib/gateway/content/keeper';
import { queryWithin } from '#lib/platform/data/query-within';

/** How often they are written, ms. */
export const COUNTS_MS = 10_000;
const STATEMENT_MS = 4_000;

/**
 * How much content a process kept and lost, for the console (contract: content/beside).
 * @param ownerId of the process.
 * @returns writes it to the row of the process, if it has changed.
 */
export function writesCounts(
  pool: Pool,
  ownerId: string,
  content: Pick<ContentKeeper, 'counts' | 'answers'>,
): () => Promise<void> {
  const query = queryWithin(pool, STATEMENT_MS);
  let written = '';
  return async () => {
    const { kept, lost } = content.counts();
    const values = [ownerId, kept, lost, content.answers()];
    if (written === JSON.stringify(values)) return;
    await query(
      'UPDATE owner SET content_kept = $2, content_lost = $3, content_answers = $4 WHERE id = $1',
      values,
    );
    written = JSON.stringify(values);
  };
}
