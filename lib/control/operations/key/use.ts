import { z } from 'zod';
import { read } from '#lib/control/operations/declare';
import { isUuid } from '#lib/control/operations/field/kinds';
import { noKey } from '#lib/control/operations/key/find';
import { isReached, readFreesAt } from '#lib/control/operations/key/refusing';
import { keyId, keysPath } from '#lib/control/operations/key/settings';
import { readSpend } from '#lib/control/operations/key/spend';
import { within } from '#lib/control/operations/scope';
import { inZone } from '#lib/control/operations/time-zone';
import { formatUsd } from '#lib/core/money';
import type { LimitUse } from '#lib/gateway/limits/pure/limit-book';

const dollars = z.string().describe('Dollars as a decimal string.');
const moment = z.iso.datetime().nullable();

const rate = z.object({
  used: z.int().describe('Counts against the limit now.'),
  limit: z.int().nullable().describe('The limit; null: none.'),
});
const capUse = z
  .object({ spent: dollars, cap: dollars.nullable(), freesAt: moment })
  .describe(
    'freesAt: when a cap that is used up admits calls again; null: it is not used up, or someone has to change it.',
  );

/** A key's limits and what counts against them now. */
const keyUse = z.object({
  id: z.uuid(),
  processes: z
    .int()
    .describe('Number of gateway processes that answered; if 0, the figures of the last minute are 0.'),
  requests: rate.describe('In the last 60 seconds.'),
  tokens: rate.describe('In the last 60 seconds.'),
  atOnce: rate.describe('Running calls.'),
  held: dollars.describe('Held by running calls and jobs, in addition to what is spent.'),
  day: capUse,
  d7: capUse,
  d30: capUse,
  quota: capUse,
  dayEndsAt: z.iso.datetime().describe('Midnight in the workspace’s time zone.'),
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
  day_ends_at: Date;
  held: string;
}

const limits = (inside: string) => `
  SELECT k.rpm, k.tpm, k.concurrency, k.daily_cap_nano::text, k.d7_cap_nano::text, k.d30_cap_nano::text,
    k.quota_nano::text, k.spent_nano::text,
    (date_trunc('day', now() AT TIME ZONE z.zone) + interval '1 day') AT TIME ZONE z.zone AS day_ends_at,
    ((SELECT coalesce(sum(amount_nano), 0) FROM hold WHERE key_id = k.id)
      + (SELECT coalesce(sum(held_nano), 0) FROM lease WHERE kind = 'key' AND subject_id = k.id))::text AS held
  FROM api_key k JOIN workspace w ON w.id = k.workspace_id
  CROSS JOIN LATERAL (SELECT coalesce($2, w.time_zone) AS zone) z
  WHERE k.id = $1::uuid AND ${inside}`;

export const showKeyUse = read({
  name: 'key.use',
  summary:
    'Shows what counts against each limit and cap of a key now, and when used-up caps admit calls again.',
  reach: 'subject',
  permission: 'keys:read',
  fields: { id: keyId },
  output: keyUse,
  http: [{ method: 'GET', path: `${keysPath}/{id}/use` }],
  line: { arguments: ['id'] },
  run: async ({ store, scope, limitUse }, { id }) => {
    if (!isUuid(id)) throw noKey(id);
    const [[row], spendOf] = await Promise.all([
      inZone(null, (zone) => {
        const values: unknown[] = [id, zone];
        return store.query<Row>(limits(within(scope, 'k.workspace_id', values)), values);
      }),
      readSpend(store, [id]),
    ]);
    if (!row) throw noKey(id);
    const live = await limitUse(id);
    const sum = (figure: keyof LimitUse) => live.reduce((total, one) => total + one[figure], 0);
    const spend = spendOf(id);
    const held = BigInt(row.held);
    const cap = (spentNano: bigint, bound: string | null, freesAt: Date | null) => ({
      spent: formatUsd(spentNano),
      cap: bound === null ? null : formatUsd(BigInt(bound)),
      freesAt:
        bound !== null && isReached(spentNano + held, BigInt(bound))
          ? (freesAt?.toISOString() ?? null)
          : null,
    });
    const freesAt = (spentNano: bigint, bound: string | null, window: 'd7' | 'd30') =>
      bound !== null && isReached(spentNano + held, BigInt(bound))
        ? readFreesAt(store, id, window, BigInt(bound))
        : null;
    return {
      id,
      processes: live.length,
      requests: { used: sum('requests'), limit: row.rpm },
      tokens: { used: sum('tokens'), limit: row.tpm },
      atOnce: { used: sum('atOnce'), limit: row.concurrency },
      held: formatUsd(held),
      day: cap(spend.dayNano, row.daily_cap_nano, row.day_ends_at),
      d7: cap(spend.d7Nano, row.d7_cap_nano, await freesAt(spend.d7Nano, row.d7_cap_nano, 'd7')),
      d30: cap(spend.d30Nano, row.d30_cap_nano, await freesAt(spend.d30Nano, row.d30_cap_nano, 'd30')),
      quota: cap(BigInt(row.spent_nano), row.quota_nano, null),
      dayEndsAt: row.day_ends_at.toISOString(),
    };
  },
});
