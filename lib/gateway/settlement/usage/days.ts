import type { PoolClient } from 'pg';
import { dayStart, daysLater } from '#lib/core/charts/zone';
import { sumNames } from '#lib/gateway/settlement/usage/columns';

/** A day of a workspace in its time zone, [startMs, endMs), ms since the epoch. */
export interface Day {
  readonly startMs: number;
  readonly endMs: number;
}

const place = 'workspace_id, quarter, key_id, model, provider';
const sums = sumNames.join(', ');
const added = (table: string) =>
  sumNames.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ');
const quarters = (table: string) =>
  `FROM ${table} WHERE workspace_id = $1::uuid AND quarter >= $2::timestamptz AND quarter < $3::timestamptz`;

/**
 * Counts a day's quarters in its row of the day, all in one statement: each quarter leaves `usage_quarter` when a day
 * counts it, so that run again, or beside settlement, it counts each once. What a late journal adds is a new quarter.
 * @param whole also the quarters that were counted by a day before: those of a day that is made anew.
 */
const countDay = (whole: boolean) => `
  WITH moved AS (
    DELETE ${quarters('usage_quarter')} RETURNING *
  ), counted AS (
    INSERT INTO usage_quarter_counted (${place}, ${sums}) SELECT ${place}, ${sums} FROM moved ORDER BY ${place}
    ON CONFLICT (${place}) DO UPDATE SET ${added('usage_quarter_counted')}
  )
  INSERT INTO usage_day (workspace_id, day, until, key_id, model, provider, ${sums})
  SELECT workspace_id, $2::timestamptz, $3::timestamptz, key_id, model, provider,
    ${sumNames.map((name) => `sum(${name})`).join(', ')}
  FROM (
    SELECT workspace_id, key_id, model, provider, ${sums} FROM moved
    ${whole ? `UNION ALL SELECT workspace_id, key_id, model, provider, ${sums} ${quarters('usage_quarter_counted')}` : ''}
  ) AS part GROUP BY workspace_id, key_id, model, provider ORDER BY workspace_id, key_id, model, provider
  ON CONFLICT (workspace_id, day, key_id, model, provider) DO UPDATE SET
    until = greatest(usage_day.until, excluded.until), ${added('usage_day')}`;

const mark = `
  INSERT INTO usage_span AS s (workspace_id, day, until, zone, state)
  VALUES ($1::uuid, $2::timestamptz, $3::timestamptz, $4, $5)
  ON CONFLICT (workspace_id, day) DO UPDATE SET
    until = greatest(s.until, excluded.until), zone = excluded.zone, state = excluded.state`;

/**
 * Counts what no day counts yet of a day that is over.
 * @param client in a transaction whose turn it is.
 * @param fold whether its quarters go then, because they are 13 months old.
 * @throws Error of the database.
 */
export async function makeDay(
  client: PoolClient,
  workspaceId: string,
  { startMs, endMs }: Day,
  { zone, fold }: { readonly zone: string; readonly fold: boolean },
): Promise<void> {
  const range = [workspaceId, new Date(startMs).toISOString(), new Date(endMs).toISOString()];
  const found = await client.query<{ state: string }>(
    'SELECT state FROM usage_span WHERE workspace_id = $1::uuid AND day = $2::timestamptz',
    range.slice(0, 2),
  );
  const state = found.rows[0]?.state;
  await client.query(countDay(state !== 'made'), range);
  const folded = fold || state === 'folded';
  if (folded) await client.query(`DELETE ${quarters('usage_quarter_counted')}`, range);
  await client.query(mark, [...range, zone, folded ? 'folded' : 'made']);
}

/**
 * Forgets the days of another time zone and notes those that take their place: until they are made, their quarters are
 * read one by one. Days whose quarters are gone stay as they are.
 * @param client in a transaction whose turn it is.
 * @returns whether there were any.
 * @throws Error of the database.
 */
export async function changeZone(client: PoolClient, workspaceId: string, zone: string): Promise<boolean> {
  const { rows } = await client.query<{ day: Date; until: Date }>(
    `WITH gone AS (
       DELETE FROM usage_span WHERE workspace_id = $1::uuid AND state <> 'folded' AND zone <> $2 RETURNING *
     ), rows AS (
       DELETE FROM usage_day AS d USING gone AS g WHERE d.workspace_id = g.workspace_id AND d.day = g.day
     )
     SELECT day, until FROM gone ORDER BY day`,
    [workspaceId, zone],
  );
  const days = new Map<number, number>();
  for (const { day, until } of rows)
    for (let at = dayStart(day.getTime(), zone); at < until.getTime(); at = daysLater(at, zone, 1))
      days.set(at, daysLater(at, zone, 1));
  await client.query(
    `INSERT INTO usage_span (workspace_id, day, until, zone, state)
     SELECT $1::uuid, day, until, $2, 'due' FROM unnest($3::timestamptz[], $4::timestamptz[]) AS r (day, until)
     ON CONFLICT (workspace_id, day) DO NOTHING`,
    [workspaceId, zone, [...days.keys()].map(iso), [...days.values()].map(iso)],
  );
  return rows.length > 0;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
