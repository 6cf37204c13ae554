import type { Pool } from 'pg';
import { closeCalls, deleteJobs } from '#lib/control/billing/close';
import { dropWeek, emptyDefault, listWeeks, makeWeek } from '#lib/control/retention/change-weeks';
import { deleteHidden } from '#lib/control/retention/delete-hidden';
import { dayMs, weekAt, weekMs, weekStart } from '#lib/control/retention/weeks';
import { lastingKinds } from '#lib/core/facts/resource';
import type { Clock } from '#lib/platform/clock';
import { lookAtClock, type SeenTime } from '#lib/platform/data/seen-time';
import { transact } from '#lib/platform/data/transaction/transaction';
import { idFloor } from '#lib/platform/ids';

/**
 * Between two rounds, ms. What a round finds past its end is deleted by the next one, because the time that it goes by
 * is the last one's: together, and with the time that they take, less than an hour (contract: content/lifetime).
 */
const roundMs = 20 * 60_000;
/** Rows of one transaction, and its time limits. */
const batch = 5_000;
const limits = { lockMs: 1_000, statementMs: 30_000 };
const weeksBehind = 1;
const weeksAhead = 4;
/** Sliding caps look back 30 days (contract: money/sliding-caps); older minutes are of no use. */
const spendDays = 32;
/** How long state kept at a provider can be referred to (contract: jobs/lifetime). */
const resourceDays = 30;

interface CareOptions {
  readonly clock: Clock;
  /** Of the call log, whole days (contract: call-log/retention). */
  readonly retentionDays: number;
  report(error: Error): void;
}

/**
 * Creates the weekly partitions around now and drops those older than the retention, every 20 minutes; the weeks to come
 * exist when it returns. Age is measured by the last believed time (`seen-time`), so that a clock that runs ahead does
 * not delete the log. A failed round is reported and not fatal: rows without a week go to the default partition, and
 * move to a week in the next round.
 */
export async function keepPartitions(pool: Pool, options: CareOptions) {
  const { clock, report, retentionDays } = options;
  let lookedMono = clock.mono();
  let last: SeenTime | null = null;
  let told = false;
  let ended = false;
  let running: Promise<void> | null = null;
  const stopped = () => ended;
  /** @returns whether it succeeded: a round ends at its first failure, and the next one tries again. */
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!ended) report(error instanceof Error ? error : new Error(String(error)));
      return false;
    }
  };
  const make = () => makePartitions(pool, clock.now());
  const tidy = async () => {
    const mono = clock.mono();
    const { allowedMs, believed, seen } = await lookAtClock(pool, clock.now(), last, mono - lookedMono);
    lookedMono = mono;
    last = seen;
    if (!believed && !told) report(leapt(allowedMs));
    told = !believed;
    await dropPartitions(pool, allowedMs, retentionDays, stopped);
    await deleteHidden(pool, allowedMs, closeCalls, stopped);
  };
  const begin = (making: Promise<boolean>): Promise<void> => {
    running = making.then(async (made) => {
      if (made) await attempt(tidy);
      running = null;
    });
    return running;
  };
  const firstRound = begin(Promise.resolve(await attempt(make)));
  const timer = setInterval(() => {
    if (running === null) void begin(attempt(make));
  }, roundMs);
  timer.unref();
  return {
    /** Ends once the first round has: until then a start may still be deleting old calls. */
    firstRound,
    /** Ends the running round between two of its steps, and waits for it. */
    stop: async () => {
      clearInterval(timer);
      ended = true;
      await running;
    },
  };
}

function leapt(seenMs: number): Error {
  return new Error(
    `the clock is more than a day ahead of the last known time, ${new Date(seenMs).toISOString()}: ` +
      'correct it if it is wrong; otherwise retention accepts the new time after a day and uses the old one until then',
  );
}

/** Makes the weekly partitions of `call` from the last week to four weeks ahead. */
export async function makePartitions(pool: Pool, nowMs: number): Promise<void> {
  for (let week = -weeksBehind; week <= weeksAhead; week++) {
    await makeWeek(pool, weekAt(weekStart(nowMs) + week * weekMs));
  }
}

/**
 * Gives the calls of the default partition a week, and drops weeks that ended before the retention; also minutes of
 * spend that no cap covers, expired resources, and settled jobs and adjustments of dropped calls.
 * @param nowMs the time that retention may go by, ms since the epoch.
 * @param stopped asked between two steps.
 */
export async function dropPartitions(
  pool: Pool,
  nowMs: number,
  retentionDays: number,
  stopped: () => boolean = () => false,
): Promise<void> {
  const keepFromMs = weekStart(nowMs - retentionDays * dayMs);
  await emptyDefault(pool);
  try {
    for (const week of await listWeeks(pool)) {
      if (week.startMs >= keepFromMs || stopped()) break;
      if (!(await dropWeek(pool, week, closeCalls))) break;
    }
  } finally {
    await dropOldRows(pool, nowMs, keepFromMs, stopped);
  }
}

/**
 * Content that someone deleted for a whole key or workspace, and what a workspace now keeps for a shorter time; rows of
 * calls that were running then may come later. In one condition, because the table is read whole for it.
 */
const deletedContent = `EXISTS (
    SELECT FROM workspace w WHERE w.id = workspace_id AND (w.content_deleted_at > greatest(at, $1::timestamptz)
      OR at < $2::timestamptz - make_interval(hours => 24 * w.content_days))
  ) OR EXISTS (
    SELECT FROM api_key k WHERE k.id = key_id AND k.content_deleted_at > greatest(at, $1::timestamptz))`;
/** Far longer than a call may last. */
const deletedDays = 3;

/** Feedback on calls that are deleted, or that their workspace no longer keeps (contract: call-log/feedback-lifetime). */
const hiddenFeedback = `call_id < $1::uuid OR call_id IN (
    SELECT f.call_id FROM workspace w JOIN call_feedback f ON f.workspace_id = w.id
      AND (w.deleted_at IS NOT NULL OR f.at < $2::timestamptz - make_interval(days => w.retention_days))
    WHERE w.deleted_at IS NOT NULL OR w.retention_days IS NOT NULL)`;

/** The same of calls that were answered with a kept answer. */
const hiddenRepeats = hiddenFeedback.replace('call_feedback', 'call_repeat');
/** Tags of calls that their workspace no longer keeps (contract: tags/deletion). */
const hiddenTags = `call_id IN (
    SELECT c.call_id FROM workspace w JOIN tag t ON t.workspace_id = w.id
      JOIN call_tag c ON c.tag_id = t.id AND (w.deleted_at IS NOT NULL OR c.call_id < (lpad(to_hex((
        extract(epoch FROM $1::timestamptz - make_interval(days => w.retention_days)) * 1000)::bigint), 12, '0')
        || repeat('0', 20))::uuid)
    WHERE w.deleted_at IS NOT NULL OR w.retention_days IS NOT NULL)`;
const oldTagSums = `quarter < $1::timestamptz
  OR workspace_id IN (SELECT id FROM workspace WHERE deleted_at IS NOT NULL)`;

/** Every call with a tag has a row of sums. */
const unusedTag = 'NOT EXISTS (SELECT FROM tag_quarter q WHERE q.tag_id = id)';

/** Deletes old rows of other tables. A week that could not be dropped keeps its jobs and adjustments. */
async function dropOldRows(pool: Pool, nowMs: number, keepFromMs: number, stopped: () => boolean) {
  const [oldest] = await listWeeks(pool);
  const daysAgo = (days: number) => new Date(nowMs - days * dayMs).toISOString();
  const keepFrom = idFloor(Math.min(keepFromMs, oldest?.startMs ?? keepFromMs));
  for (let more = true; more && !stopped(); ) {
    more = await transact(pool, limits, (client) => deleteJobs(client, keepFrom, batch));
  }
  const old = [
    { table: 'spend_minute', condition: 'minute < $1::timestamptz', values: [daysAgo(spendDays)] },
    {
      table: 'resource',
      condition: 'created_at < $1::timestamptz AND (deleted_at IS NOT NULL OR kind <> ALL ($2::text[]))',
      values: [daysAgo(resourceDays), lastingKinds],
    },
    {
      table: 'call_content',
      condition: 'keep_until < $1::timestamptz OR call_id < $2::uuid',
      values: [daysAgo(0), keepFrom],
    },
    { table: 'call_content', condition: deletedContent, values: [daysAgo(deletedDays), daysAgo(0)] },
    { table: 'call_feedback', condition: hiddenFeedback, values: [keepFrom, daysAgo(0)] },
    { table: 'kept_answer', condition: 'keep_until < $1::timestamptz', values: [daysAgo(0)] },
    { table: 'call_repeat', condition: hiddenRepeats, values: [keepFrom, daysAgo(0)] },
    { table: 'call_tag', condition: 'call_id < $1::uuid', values: [keepFrom] },
    { table: 'call_tag', condition: hiddenTags, values: [daysAgo(0)] },
    { table: 'tag_quarter', condition: oldTagSums, values: [new Date(keepFromMs).toISOString()] },
    { table: 'tag', condition: unusedTag, values: [] },
    { table: 'adjustment', condition: 'call_id < $1::uuid', values: [keepFrom] },
  ];
  for (const rows of old) await deleteInBatches(pool, rows, stopped);
}

/**
 * Deletes a few thousand rows at a time, each batch in its own transaction, so that deleted rows stay deleted if the
 * process is killed, and no other transaction waits long.
 * @param condition in SQL, with `values`; our own names, never from outside.
 * @param stopped called between two batches.
 */
async function deleteInBatches(
  pool: Pool,
  { table, condition, values }: { table: string; condition: string; values: readonly unknown[] },
  stopped: () => boolean,
): Promise<void> {
  const statement = `DELETE FROM "${table}" WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM "${table}" WHERE ${condition} LIMIT ${batch}))`;
  while (!stopped()) {
    const { rowCount } = await transact(pool, limits, (client) => client.query(statement, [...values]));
    if ((rowCount ?? 0) < batch) return;
  }
}
