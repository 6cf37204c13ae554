import type { Db } from '#lib/data/db';

/** Calls are posted five times a second. */
const lookMs = 50;
const longestMs = 120_000;

interface Waiting {
  readonly id: string;
  readonly untilMs: number;
  readonly found: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Waits until the row of a call is in the log. One statement looks for all calls that a file waits for: many tests wait at
 * once, and to look for each alone would keep the database busy.
 * @returns rejects after two minutes, and when the database does not answer.
 */
export function awaitCalls(db: Db): (id: string) => Promise<void> {
  let waiting: Waiting[] = [];
  let looking = false;
  const take = (which: (one: Waiting) => boolean) => {
    const taken = waiting.filter(which);
    waiting = waiting.filter((one) => !which(one));
    return taken;
  };
  const look = async () => {
    const ids = waiting.map(({ id }) => id);
    const { rows } = await db.pool.query<{ id: string }>('SELECT id FROM call WHERE id = ANY ($1)', [ids]);
    const there = new Set(rows.map(({ id }) => id));
    for (const { found } of take(({ id }) => there.has(id))) found();
    const now = performance.now();
    for (const { id, fail } of take(({ untilMs }) => untilMs < now)) {
      fail(new Error(`call ${id} did not reach the log within ${longestMs / 1000} s`));
    }
  };
  const lookOn = async () => {
    looking = true;
    while (waiting.length > 0) {
      await look().catch((error) => {
        for (const { fail } of take(() => true)) fail(error);
      });
      if (waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
    looking = false;
  };
  return (id) =>
    new Promise((found, fail) => {
      waiting.push({ id, untilMs: performance.now() + longestMs, found, fail });
      if (!looking) void lookOn();
    });
}
