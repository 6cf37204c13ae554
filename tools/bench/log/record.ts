import type { Pool } from 'pg';

/** A statement as the product sent it. */
interface Sent {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Statements that the pool has sent, including Prisma's. */
export interface Recorder {
  /** What was sent since the last call. */
  take(): Sent[];
}

/** Records every statement of a pool, which otherwise works as before. */
export function record(pool: Pool): Recorder {
  let sent: Sent[] = [];
  const query = pool.query.bind(pool) as (...given: unknown[]) => unknown;
  const noting = (...given: unknown[]): unknown => {
    const [first, second] = given;
    const text = typeof first === 'string' ? first : textOf(first);
    const own = typeof first === 'object' && first !== null && 'values' in first ? first.values : undefined;
    const values = Array.isArray(own) ? own : Array.isArray(second) ? second : [];
    sent.push({ text, values });
    return query(...given);
  };
  // The caller gets the pool's own answer.
  pool.query = noting as Pool['query'];
  return {
    take: () => {
      const taken = sent;
      sent = [];
      return taken;
    },
  };
}

function textOf(given: unknown): string {
  return typeof given === 'object' && given !== null && 'text' in given ? String(given.text) : '';
}

/** The database's plans of the statements that read the log or the sums of usage. */
export async function explain(pool: Pool, statements: readonly Sent[]): Promise<string[]> {
  const plans: string[] = [];
  for (const { text, values } of statements) {
    if (!/\b(call|usage_\w+)\b/.test(text) || !/^\s*(SELECT|WITH)/i.test(text)) continue;
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, [
      ...values,
    ]);
    const lines = rows.map((row) => row['QUERY PLAN']).filter((line) => !line.includes('never executed'));
    plans.push(`${text.replace(/\s+/g, ' ').trim().slice(0, 400)}\n${lines.join('\n')}`);
  }
  return plans;
}
