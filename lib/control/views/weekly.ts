import { byAnyId, type CallFigures, readCallFigures } from '#lib/control/operations/call/search';
import { storeOf } from '#lib/control/operations/store';
import { searchOfView } from '#lib/control/operations/view/filters';
import { viewPages } from '#lib/control/operations/view/settings';
import { mayReadView, reportedMonday } from '#lib/control/operations/view/week';
import { queueMail } from '#lib/control/outbox/queue-mail';
import { readBounded, scopeOfWorkspace } from '#lib/control/views/read';
import { knownZone, startOfDate } from '#lib/core/charts/zone';
import { messageOf } from '#lib/core/errors';
import { formatUsd } from '#lib/core/money';
import type { Db } from '#lib/platform/data/db';
import { transact } from '#lib/platform/data/transaction/transaction';

const dayMs = 86_400_000;
/** What is not sent by then is of no use, seconds. */
const mailSeconds = 3 * 86_400;
const limits = { lockMs: 3_000, statementMs: 10_000 };

/** What a subscriber must still be (contract: control-plane/view-mail). */
const subscribed = `view_subscription s JOIN saved_view v ON v.id = s.view_id
  JOIN workspace w ON w.id = v.workspace_id AND w.deleted_at IS NULL AND w.suspended_at IS NULL
    AND NOT w.demo
  JOIN "user" u ON u.id = s.user_id`;

const due = `
  SELECT v.id::text AS id, v.workspace_id::text AS workspace, v.page, v.query, w.time_zone AS zone,
    ${reportedMonday('$1')} AS monday
  FROM ${subscribed} WHERE ${mayReadView} AND s.week < ${reportedMonday('$1')} AND NOT v.id = ANY ($2::uuid[])
  ORDER BY v.id LIMIT 1`;

const claim = `
  UPDATE view_subscription t SET week = $2
  FROM (SELECT s.view_id, s.user_id, u.email FROM ${subscribed} WHERE s.view_id = $1::uuid AND ${mayReadView}) AS r
  WHERE t.view_id = r.view_id AND t.user_id = r.user_id AND t.week < $2
  RETURNING t.user_id::text AS user, r.email`;

interface Due {
  readonly id: string;
  readonly workspace: string;
  readonly page: string;
  readonly query: string;
  readonly zone: string;
  /** "2026-11-30". */
  readonly monday: string;
}

/** The figures of a week as a mail keeps them; dollars as a decimal string. */
export type WeekFigures = Omit<CallFigures, 'costNano'> & { readonly cost: string };

/**
 * Queues the weekly mails of one view that is due, once for each subscriber: a mail and the note of its week are one
 * transaction, so that other processes and kills repeat or lose none (contract: control-plane/view-mail).
 * @param except ids of views to pass over. @returns the view; null: none is due.
 * @throws ViewFailed; its mails stay due.
 */
export async function mailOneView(
  db: Db,
  nowMs: number,
  except: readonly string[] = [],
): Promise<string | null> {
  const { rows } = await db.pool.query<Due>(due, [new Date(nowMs), except]);
  const [view] = rows;
  if (view === undefined) return null;
  try {
    await mailView(db, view, nowMs);
  } catch (error) {
    throw new ViewFailed(view.id, error);
  }
  return view.id;
}

/** A view whose mails could not be written. */
export class ViewFailed extends Error {
  readonly viewId: string;
  constructor(viewId: string, cause: unknown) {
    super(`the weekly mails of the view ${viewId} were not written: ${messageOf(cause)}`, { cause });
    this.viewId = viewId;
  }
}

async function mailView(db: Db, view: Due, nowMs: number): Promise<void> {
  const { id, workspace, monday } = view;
  const zone = knownZone(view.zone);
  const startOf = (weeks: number) => startOfDate(Date.parse(`${monday}T00:00Z`) - weeks * 7 * dayMs, zone);
  const [beforeMs, fromMs, toMs] = [startOf(2), startOf(1), startOf(0)];
  const store = storeOf(db);
  const scope = await scopeOfWorkspace(store, workspace);
  const search = searchOfView(viewPages.find((one) => one === view.page) ?? 'logs', view.query) ?? {};
  const input = await byAnyId(store, scope, nowMs, search);
  const figuresOf = (start: number, end: number) =>
    readBounded(db.pool, async (bounded) => {
      const range = { from: new Date(start), to: new Date(end) };
      return shownFigures(await readCallFigures(bounded, scope, nowMs, { ...input, ...range }));
    });
  const now = await figuresOf(fromMs, toMs);
  // Older calls than the workspace keeps would be missing from it.
  const kept = scope.retentionDays === null || beforeMs >= nowMs - scope.retentionDays * dayMs;
  const before = kept ? await figuresOf(beforeMs, fromMs) : null;
  await transact(db.pool, limits, async (client) => {
    const { rows } = await client.query<{ user: string; email: string }>(claim, [id, monday]);
    for (const { user, email } of rows) {
      const facts = { view: id, user, from: fromMs, to: toMs, figures: JSON.stringify({ now, before }) };
      await queueMail(client, { kind: 'view', recipient: email, facts, lifeSeconds: mailSeconds });
    }
  });
}

function shownFigures({ costNano, ...figures }: CallFigures): WeekFigures {
  return { ...figures, cost: formatUsd(costNano) };
}
