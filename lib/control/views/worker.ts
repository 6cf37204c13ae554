import { countOneView } from '#lib/control/views/count';
import { mailOneView, ViewFailed } from '#lib/control/views/weekly';
import type { Db } from '#lib/platform/data/db';
import { type Repeated, repeat } from '#lib/platform/repeat';

const lookMs = 15_000;
/** How long one process of all works at a time; another takes over if it was killed. */
const turnSeconds = 60;
/** Nothing is begun after that, so that a turn ends in its time, ms. */
const workMs = 25_000;
/** How long a view whose figures could not be read is passed over, ms. */
const restMs = 600_000;

const take = `UPDATE fleet_duty SET taken_until = now() + interval '${turnSeconds} seconds'
  WHERE name = 'views' AND (taken_until IS NULL OR taken_until <= now())`;
const end = `UPDATE fleet_duty SET taken_until = NULL, done_at = now() WHERE name = 'views'`;

interface ViewHost {
  readonly db: Db;
  /** Whether this gateway sends mail. */
  readonly mails: boolean;
  report(error: unknown): void;
}

/** Counts views with an alert, and writes weekly mails, in one process of the fleet at a time. */
export function startViews({ db, mails, report }: ViewHost): Repeated {
  const resting = new Map<string, number>();
  const passedOver = () => [...resting].flatMap(([id, untilMs]) => (untilMs > Date.now() ? [id] : []));
  const mail = async () => {
    try {
      return mails && (await mailOneView(db, Date.now(), passedOver())) !== null;
    } catch (error) {
      if (error instanceof ViewFailed) resting.set(error.viewId, Date.now() + restMs);
      throw error;
    }
  };
  const work = async () => {
    if ((await db.pool.query(take)).rowCount !== 1) return;
    const untilMs = Date.now() + workMs;
    try {
      let more = true;
      while (more && Date.now() < untilMs)
        more = [await countOneView(db, Date.now), await mail()].includes(true);
    } finally {
      await db.pool.query(end);
    }
  };
  return repeat(lookMs, work, report);
}
