import { z } from 'zod';
import { isReached } from '#lib/control/operations/key/refusing';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { dayStart, daysLater, knownZone } from '#lib/core/charts/zone';
import { endUserName, type Tag, type TagCaps, tagIdOf, tagLimitFlag } from '#lib/core/facts/tags';
import { formatUsd } from '#lib/core/money';
import { idFloor } from '#lib/platform/ids';

/** What a tag spent in each window of budgets, nano-dollars (contract: tags/spend). */
export interface TagSpend {
  readonly dayNano: bigint;
  readonly d7Nano: bigint;
  readonly d30Nano: bigint;
}

const noSpend: TagSpend = { dayNano: 0n, d7Nano: 0n, d30Nano: 0n };

const dollars = (window: string) => z.string().describe(`Dollars as a decimal string, ${window}.`);

export const shownSpend = z.object({
  day: dollars('today in the workspace’s time zone'),
  d7: dollars('in 7 days'),
  d30: dollars('in 30 days'),
});

export const shownTagRefusal = z.object({
  code: z.string().describe('Error code of the refusals.'),
  until: z.iso
    .datetime()
    .nullable()
    .describe('When calls are admitted again; null: it is not known, or only if the budget is changed.'),
  latest: z
    .object({
      at: z.iso.datetime(),
      refused: z.int().describe('Calls of the last hour that were refused for it.'),
      values: z.int().describe('End users or values whose calls they were.'),
    })
    .nullable()
    .describe(
      'If limits a minute refuse: the latest refusal, and how many there were among the newest 1,000 failed calls of the workspace; null: a budget in dollars refuses.',
    ),
});
export type ShownTagRefusal = z.output<typeof shownTagRefusal>;

/** Sliding windows keep a whole quarter of an hour until all of it is out. */
const windowHours = { d7: 168, d30: 720 };

/**
 * What tags of a workspace spent, by the id of the tag, as admission counts it; without what running calls hold.
 * @param tags each with name and value. @throws Error of the database.
 */
export async function readTagSpend(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  tags: readonly Tag[],
  nowMs: number,
): Promise<(tag: Tag) => TagSpend> {
  const ids = tags.map((tag) => tagIdOf(scope.workspaceId, tag));
  const today = new Date(dayStart(nowMs, knownZone(scope.timeZone)));
  const rows = await store.query<{ id: string; day: string; d7: string; d30: string }>(
    `SELECT q.tag_id::text AS id,
       coalesce(sum(cost_nano) FILTER (WHERE quarter >= $3::timestamptz), 0)::text AS day,
       coalesce(sum(cost_nano) FILTER (WHERE quarter > $2::timestamptz - interval '168 hours 15 minutes'), 0)::text AS d7,
       sum(cost_nano)::text AS d30
     FROM tag_quarter q WHERE q.tag_id = ANY ($1::uuid[]) AND q.workspace_id = $4::uuid
       AND q.quarter > $2::timestamptz - interval '720 hours 15 minutes' GROUP BY q.tag_id`,
    [ids, new Date(nowMs), today, scope.workspaceId],
  );
  const found = new Map<string, TagSpend>();
  for (const { id, day, d7, d30 } of rows) {
    found.set(id, { dayNano: BigInt(day), d7Nano: BigInt(d7), d30Nano: BigInt(d30) });
  }
  return (tag) => found.get(tagIdOf(scope.workspaceId, tag)) ?? noSpend;
}

export function showSpend({ dayNano, d7Nano, d30Nano }: TagSpend): z.output<typeof shownSpend> {
  return { day: formatUsd(dayNano), d7: formatUsd(d7Nano), d30: formatUsd(d30Nano) };
}

/**
 * Why the next call with a tag would be refused, by what was spent; null: no budget in dollars is used up. What running
 * calls hold does not count, since it is temporary. @throws Error of the database.
 */
export async function readTagRefusal(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  tag: Tag,
  facts: { readonly caps: TagCaps; readonly spend: TagSpend; readonly nowMs: number },
): Promise<z.output<typeof shownTagRefusal> | null> {
  const { caps, spend, nowMs } = facts;
  const freesAt = async (window: keyof typeof windowHours, capNano: bigint | null) => {
    const [row] = await store.query<{ at: Date | null }>(freeing, [
      tagIdOf(scope.workspaceId, tag),
      windowHours[window],
      String(capNano),
      new Date(nowMs),
      scope.workspaceId,
    ]);
    return row?.at?.toISOString() ?? null;
  };
  if (isReached(spend.dayNano, caps.dayNano)) {
    const until = new Date(daysLater(nowMs, knownZone(scope.timeZone), 1)).toISOString();
    return { code: 'day_limit_reached', until, latest: null };
  }
  if (isReached(spend.d7Nano, caps.d7Nano))
    return { code: 'd7_limit_reached', until: await freesAt('d7', caps.d7Nano), latest: null };
  if (isReached(spend.d30Nano, caps.d30Nano))
    return { code: 'd30_limit_reached', until: await freesAt('d30', caps.d30Nano), latest: null };
  return null;
}

/** A budget has room again when enough of the newest spend has left its window. */
const freeing = `
  SELECT max(quarter) + interval '15 minutes' + $2::int * interval '1 hour' AS at FROM (
    SELECT quarter, sum(cost_nano) OVER (ORDER BY quarter DESC) AS newer FROM tag_quarter
    WHERE tag_id = $1::uuid AND workspace_id = $5::uuid
      AND quarter > $4::timestamptz - $2::int * interval '1 hour' - interval '15 minutes'
  ) AS spend WHERE newer >= $3::bigint`;

const limitedHourMs = 3_600_000;

/** Refusals by limits a minute within the hour, by the tag whose limit it was; of the newest failed calls only. */
const limited = `
  SELECT t.name, t.value, count(*)::int AS refused, max(f.at) AS at,
    (array_agg(f.error_code ORDER BY f.id DESC))[1] AS code
  FROM (SELECT id, at, error_code, flags FROM call WHERE workspace_id = $1::uuid AND status >= 400 AND id >= $2::uuid
    ORDER BY id DESC LIMIT 1000) AS f
  JOIN call_tag c ON c.call_id = f.id JOIN tag t ON t.id = c.tag_id AND t.workspace_id = $1::uuid
  WHERE (CASE WHEN t.name = '${endUserName}' THEN '${tagLimitFlag(endUserName)}' ELSE '${tagLimitFlag('')}' || t.name END)
    = ANY (f.flags)
  GROUP BY t.name, t.value`;

/**
 * Which limits a minute of tags and end users refused calls within an hour (contract: tags/spent).
 * @returns for a budget with such a limit: of its value, or, without a value, of all values that have no budget of their
 * own; null: none was refused. @throws Error of the database.
 */
export async function readTagLimited(
  store: Pick<Store, 'query'>,
  { workspaceId }: WorkspaceScope,
  nowMs: number,
): Promise<(budget: LimitedBudget, others: readonly Tag[]) => ShownTagRefusal | null> {
  type Row = Tag & { readonly refused: number; readonly at: Date; readonly code: string };
  const rows = await store.query<Row>(limited, [workspaceId, idFloor(nowMs - limitedHourMs)]);
  return ({ name, value, rpm, tpm }, others) => {
    if (rpm === null && tpm === null) return null;
    const own = (row: Tag) => others.some((other) => other.name === row.name && other.value === row.value);
    const found = rows
      .filter((row) => row.name === name && (value === '' ? !own(row) : row.value === value))
      .sort((one, other) => other.at.getTime() - one.at.getTime());
    const [newest] = found;
    if (newest === undefined) return null;
    const refused = found.reduce((sum, row) => sum + row.refused, 0);
    const latest = { at: newest.at.toISOString(), refused, values: found.length };
    return { code: newest.code, until: null, latest };
  };
}

/** A budget with its limits a minute. */
type LimitedBudget = Tag & { readonly rpm: number | null; readonly tpm: number | null };
