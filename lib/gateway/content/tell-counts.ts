import type { Pool } from 'pg';
import type { ContentKeeper } from '#lib/gateway/content/keeper';
import { queryWithin } from '#lib/platform/data/query-within';
import { repeat } from '#lib/platform/repeat';

const EVERY_MS = 10_000;
const STATEMENT_MS = 4_000;

/**
 * Writes how much content this process kept and lost to its row, for the console (contract: content/beside). While the
 * database is away, it is written later.
 * @returns to be stopped with the process.
 */
export function tellCounts(
  pool: Pool,
  ownerId: string,
  content: Pick<ContentKeeper, 'counts' | 'answers'>,
  report: (error: unknown) => void,
): ReturnType<typeof repeat> {
  const query = queryWithin(pool, STATEMENT_MS);
  let told = '';
  const tell = async () => {
    const { kept, lost } = content.counts();
    const news = [kept, lost, content.answers()];
    if (told === JSON.stringify(news)) return;
    await query('UPDATE owner SET content_kept = $2, content_lost = $3, content_answers = $4 WHERE id = $1', [
      ownerId,
      ...news,
    ]);
    told = JSON.stringify(news);
  };
  return repeat(EVERY_MS, tell, report);
}
