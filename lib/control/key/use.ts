import { z } from 'zod';
import type { LimitUse } from '#lib/admission/limit-book';
import { read } from '#lib/control/declare';
import { isUuid } from '#lib/control/field/kinds';
import { noKey } from '#lib/control/key/find';
import { keyId, keysPath } from '#lib/control/key/settings';
import { within } from '#lib/control/scope';
import { inZone } from '#lib/control/time-zone';
import { formatUsd } from '#lib/money';

const dollars = z.string().meta({ description: 'Dollars as a decimal string.' });
const moment = z.iso.datetime().nullable();

const rate = z.object({
  used: z.int().meta({ description: 'What counts against the limit now.' }),
  limit: z.int().nullable().meta({ description: 'The most that is admitted; null: no limit.' }),
});
const capUse = z.object({ spent: dollars, cap: dollars.nullable(), freesAt: moment }).meta({
  description:
    'freesAt: when a cap that is reached admits calls again; null: it is not reached, or only by hand.',
});

/** A key's limits beside what counts against them now. */
const keyUse = z.object({
  id: z.uuid(),
  processes: z.int().meta({
    description: 'Gateway processes that answered; without one the figures of the last minute are 0.',
  }),
  requests: rate.meta({ description: 'In the last 60 seconds.' }),
  tokens: rate.meta({ description: 'In the last 60 seconds.' }),
  atOnce: rate.meta({ description: 'Calls that run.' }),
  held: dollars.meta({ description: 'What running calls and jobs hold of the caps, beside what is spent.' }),
  day: capUse,
  d7: capUse,
  d30: capUse,
  quota: capUse,
  dayEndsAt: z.iso.datetime().meta({ description: 'Midnight in the workspace’s zone.' }),
});

export type KeyUse = z.output<typeof keyUse>;

interface Row {
  rpm: number | null;
  tpm: number | null;
  concurrency: number | null;
  daily_cap_nano: string | null;
  d7_cap_nano: string | null;
  d30_cap_nano: string | null;
  quota_nano: string | null;
  spent_nano: string;
  day: string;
  d7: string;
  d30: string;
  d7_frees_at: Date | null;
  d30_frees_at: Date | null;
  day_ends_at: Date;
  held: string;
}

/** A minute of spend counts until all of it is out of its window; what fills a cap frees it when it leaves. */
const statement = (inside: string) => `
  SELECT k.rpm, k.tpm, k.concurrency, k.daily_cap_nano::text, k.d7_cap_nano::text, k.d30_cap_nano::text,
    k.quota_nano::text, k.spent_nano::text, coalesce(s.day, 0)::text AS day, coalesce(s.d7, 0)::text AS d7,
    coalesce(s.d30, 0)::text AS d30, s.d7_full + interval '10081 minutes' AS d7_frees_at,
    s.d30_full + interval '43201 minutes' AS d30_frees_at,
    (date_trunc('day', now() AT TIME ZONE z.zone) + interval '1 day') AT TIME ZONE z.zone AS day_ends_at,
    ((SELECT coalesce(sum(amount_nano), 0) FROM hold WHERE key_id = k.id)
      + (SELECT coalesce(sum(held_nano), 0) FROM lease WHERE kind = 'key' AND subject_id = k.id))::text AS held
  FROM api_key k JOIN workspace w ON w.id = k.workspace_id
  CROSS JOIN LATERAL (SELECT coalesce($2, w.time_zone) AS zone) z
  LEFT JOIN LATERAL (
    SELECT sum(spent_nano) FILTER (WHERE minute >=
        date_trunc('day', now() AT TIME ZONE z.zone) AT TIME ZONE z.zone) AS day,
      sum(spent_nano) FILTER (WHERE minute > now() - interval '168 hours') AS d7,
      sum(spent_nano) AS d30,
      max(minute) FILTER (WHERE newer >= k.d7_cap_nano AND minute > now() - interval '168 hours') AS d7_full,
      max(minute) FILTER (WHERE newer >= k.d30_cap_nano) AS d30_full
    FROM (
      SELECT minute, spent_nano, sum(spent_nano) OVER (ORDER BY minute DESC) AS newer
      FROM spend_minute WHERE key_id = k.id AND minute > now() - interval '720 hours'
    ) AS minutes
  ) s ON true
  WHERE k.id = $1::uuid AND ${inside}`;

export const showKeyUse = read({
  name: 'key.use',
  summary: 'What counts against each limit and cap of a key now, and when a cap that is reached frees up.',
  reach: 'subject',
  permission: 'keys:read',
  fields: { id: keyId },
  output: keyUse,
  http: [{ method: 'GET', path: `${keysPath}/{id}/use` }],
  line: { arguments: ['id'] },
  run: async ({ store, scope, limitUse }, { id }) => {
    const [row] = isUuid(id)
      ? await inZone(null, (zone) => {
          const values: unknown[] = [id, zone];
          return store.query<Row>(statement(within(scope, 'k.workspace_id', values)), values);
        })
      : [];
    if (!row) throw noKey(id);
    const live = await limitUse(id);
    const sum = (figure: keyof LimitUse) => live.reduce((total, one) => total + one[figure], 0);
    const held = BigInt(row.held);
    const cap = (spent: string, bound: string | null, freesAt: Date | null) => ({
      spent: formatUsd(BigInt(spent)),
      cap: bound === null ? null : formatUsd(BigInt(bound)),
      freesAt:
        bound !== null && BigInt(spent) + held >= BigInt(bound) ? (freesAt?.toISOString() ?? null) : null,
    });
    return {
      id,
      processes: live.length,
      requests: { used: sum('requests'), limit: row.rpm },
      tokens: { used: sum('tokens'), limit: row.tpm },
      atOnce: { used: sum('atOnce'), limit: row.concurrency },
      held: formatUsd(held),
      day: cap(row.day, row.daily_cap_nano, row.day_ends_at),
      d7: cap(row.d7, row.d7_cap_nano, row.d7_frees_at),
      d30: cap(row.d30, row.d30_cap_nano, row.d30_frees_at),
      quota: cap(row.spent_nano, row.quota_nano, null),
      dayEndsAt: row.day_ends_at.toISOString(),
    };
  },
});
