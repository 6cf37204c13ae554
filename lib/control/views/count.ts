import { byAnyId, countUpTo } from '#lib/control/operations/call/search';
import { storeOf } from '#lib/control/operations/store';
import { searchOfView } from '#lib/control/operations/view/filters';
import { type ViewWindow, viewPages, viewWindows, windowMs } from '#lib/control/operations/view/settings';
import { readBounded, scopeOfWorkspace } from '#lib/control/views/read';
import type { Db } from '#lib/platform/data/db';

/** How often the calls of a view are counted, seconds; a count that took long rests sixty times as long as it took. */
const leastSeconds = 60;
/** After a count that failed, seconds. */
const failedSeconds = 600;

/** The view that has waited longest. Views that cannot raise an alert are not counted. */
const due = `
  SELECT v.id::text AS id, v.workspace_id::text AS workspace, v.page, v.query, v.alert_over AS over, v.alert_window AS window
  FROM saved_view v JOIN workspace w ON w.id = v.workspace_id
  WHERE v.alert_over IS NOT NULL AND (v.alert_next_at IS NULL OR v.alert_next_at <= $1::timestamptz)
    AND w.deleted_at IS NULL AND NOT w.demo AND NOT 'view' = ANY (w.muted_alerts)
  ORDER BY v.alert_next_at NULLS FIRST, v.id LIMIT 1`;

/** Only if the alert is still the one that was counted for. */
const note = `
  UPDATE saved_view SET alert_calls = coalesce($4::int, alert_calls), alert_next_at = $5::timestamptz
  WHERE id = $1::uuid AND alert_over = $2::int AND alert_window = $3`;

interface Due {
  readonly id: string;
  readonly workspace: string;
  readonly page: string;
  readonly query: string;
  readonly over: number;
  readonly window: string;
}

/**
 * Counts the calls of one view with an alert that is due, up to one more than its threshold; the look for alerts
 * compares them (contract: control-plane/view-alerts). Two processes that count the same view write the same.
 * @param now ms since the epoch.
 * @returns whether there was one. @throws Error of the database; the view is counted again later.
 */
export async function countOneView(db: Db, now: () => number): Promise<boolean> {
  const startMs = now();
  const { rows } = await db.pool.query<Due>(due, [new Date(startMs)]);
  const [view] = rows;
  if (view === undefined) return false;
  const { id, over, window } = view;
  const noteCount = (calls: number | null, seconds: number) =>
    db.pool.query(note, [id, over, window, calls, new Date(now() + seconds * 1000)]);
  try {
    const calls = await countView(db, view, startMs);
    await noteCount(calls, Math.max(leastSeconds, ((now() - startMs) / 1000) * leastSeconds));
  } catch (error) {
    await noteCount(null, failedSeconds);
    throw error;
  }
  return true;
}

async function countView(db: Db, { workspace, page, query, over, window }: Due, nowMs: number) {
  const store = storeOf(db);
  const scope = await scopeOfWorkspace(store, workspace);
  const search = searchOfView(viewPages.find((one) => one === page) ?? 'logs', query);
  if (search === null) return 0;
  const name: ViewWindow = viewWindows.find((one) => one === window) ?? 'hour';
  const input = await byAnyId(store, scope, nowMs, { ...search, from: new Date(nowMs - windowMs[name]) });
  return readBounded(db.pool, (bounded) => countUpTo(bounded, scope, nowMs, { input, most: over + 1 }));
}
