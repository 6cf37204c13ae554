import { z } from 'zod';
import type { ApiKey } from '#generated/client';
import { fundsNano } from '#lib/control/billing/low-balance';
import { whyUnavailable } from '#lib/control/catalogue/list';
import type { KeySpend } from '#lib/control/operations/key/spend';
import type { Store } from '#lib/control/operations/store';
import { daysLater, knownZone } from '#lib/core/charts/zone';
import type { ErrorCode } from '#lib/core/errors';
import { isRetired } from '#lib/core/facts/retired';
import type { Catalogue } from '#lib/core/facts/snapshot';
import { endUserName, tagLimitFlag } from '#lib/core/facts/tags';
import { idFloor } from '#lib/platform/ids';

const causes = [
  ...['revoked', 'disabled', 'expired', 'maker', 'suspended', 'quota', 'models', 'funds', 'budget'],
  ...['day', 'd7', 'd30', 'model', 'rate'],
] as const;
type Cause = (typeof causes)[number];

const moments = z.iso.datetime();

/** Why calls of a key are refused, shown with the key (contract: operations/key-show). */
export const refusing = z.object({
  cause: z
    .enum(causes)
    .describe(
      'The first cause in the order of admission. "model" and "rate" are read from its latest calls.',
    ),
  code: z.string().describe('Error code of the refusals.'),
  until: moments.nullable().describe('When it ends by itself; null: only if something is changed.'),
  latest: z
    .object({
      at: moments,
      model: z.string().nullable().describe('The requested model.'),
      refused: z.int().describe('How many of these calls were refused for this cause.'),
      calls: z.int().describe('How many of its latest calls were checked.'),
    })
    .nullable()
    .describe(
      'For "model" and "rate": the latest such refusal, and how many of the latest calls (at most 100 within an hour) were refused for this cause.',
    ),
});
export type Refusing = z.output<typeof refusing>;

/** How the latest calls of a key ended: at most 100 within an hour. */
export interface LatestCalls {
  readonly calls: number;
  /** Of the newest call. */
  readonly code: string | null;
  readonly model: string | null;
  readonly at: Date;
  /** Calls that a rate limit refused, and the newest of them. */
  readonly limited: number;
  readonly limitedCode: string | null;
  readonly limitedAt: Date | null;
}

/** What is known about a key besides its row. */
export interface KeyFacts {
  readonly spend: KeySpend;
  readonly ownerRemoved: boolean;
  readonly workspace: {
    readonly suspended: boolean;
    readonly fundsNano: bigint;
    /** When its hard budget, which is used up, admits calls again; null: it refuses none. */
    readonly budgetEnds: Date | null;
    readonly timeZone: string;
  };
  /** When the sliding caps that are used up admit calls again. */
  readonly freesAt: { readonly d7: Date | null; readonly d30: Date | null };
  readonly latest: LatestCalls | null;
  /** The code by which calls of all models that the key may call are refused; null: one of them is served. */
  readonly unserved: ErrorCode | null;
}

type Row = Pick<
  ApiKey,
  | 'status'
  | 'expiresAt'
  | 'quotaExhausted'
  | 'spentNano'
  | 'quotaNano'
  | 'dailyCapNano'
  | 'd7CapNano'
  | 'd30CapNano'
>;

/**
 * Why the next call of a key would be refused, as far as that is known without making it; null: no reason. What
 * running calls hold does not count, since it is temporary (contract: admission/order). Pure.
 */
export function refusingOf(row: Row, facts: KeyFacts, nowMs: number): Refusing | null {
  const { spend, workspace, freesAt, latest } = facts;
  const by = (cause: Cause, code: ErrorCode, until: Date | null = null): Refusing => ({
    cause,
    code,
    until: until?.toISOString() ?? null,
    latest: null,
  });
  if (row.status === 'revoked') return by('revoked', 'invalid_api_key');
  if (row.status !== 'active') return by('disabled', 'apikey_inactive');
  if (row.expiresAt !== null && row.expiresAt.getTime() <= nowMs) return by('expired', 'apikey_inactive');
  if (facts.ownerRemoved) return by('maker', 'apikey_inactive');
  if (workspace.suspended) return by('suspended', 'apikey_inactive');
  if (row.quotaExhausted) return by('quota', 'quota_exceeded');
  if (facts.unserved) return by('models', facts.unserved);
  if (workspace.fundsNano <= 0n) return by('funds', 'insufficient_balance');
  if (workspace.budgetEnds !== null) return by('budget', 'insufficient_balance', workspace.budgetEnds);
  const midnight = new Date(daysLater(nowMs, knownZone(workspace.timeZone), 1));
  if (isReached(spend.dayNano, row.dailyCapNano)) return by('day', 'day_limit_reached', midnight);
  if (isReached(spend.d7Nano, row.d7CapNano)) return by('d7', 'd7_limit_reached', freesAt.d7);
  if (isReached(spend.d30Nano, row.d30CapNano)) return by('d30', 'd30_limit_reached', freesAt.d30);
  if (isReached(row.spentNano, row.quotaNano)) return by('quota', 'quota_exceeded');
  if (latest?.code === 'model_not_allowed') {
    const { at, model, calls } = latest;
    return {
      cause: 'model',
      code: latest.code,
      until: null,
      latest: { at: at.toISOString(), model, refused: 1, calls },
    };
  }
  if (latest?.limitedCode && latest.limitedAt) {
    const { calls, limited: refused } = latest;
    return {
      cause: 'rate',
      code: latest.limitedCode,
      until: null,
      latest: { at: latest.limitedAt.toISOString(), model: null, refused, calls },
    };
  }
  return null;
}

/**
 * The code by which calls of all models in a scope are refused, since none of them has an offer that can be called
 * (contract: operations/key-show); null: one of them has, or there is no scope. Pure.
 */
export function unservedCode(
  models: readonly string[] | null,
  catalogue: Catalogue,
  nowMs: number,
): ErrorCode | null {
  if (models === null) return null;
  const offers = models
    .flatMap((id) => catalogue.models.get(id)?.offers ?? [])
    .filter((offer) => offer.price !== null && !isRetired(offer, nowMs));
  if (offers.length === 0) return 'model_not_allowed';
  return offers.some((offer) => whyUnavailable(offer) === null) ? null : 'missing_upstream_base_url';
}

/** Whether settled spend has reached a cap; never without a cap. */
export function isReached(usedNano: bigint, boundNano: bigint | null): boolean {
  return boundNano !== null && usedNano >= boundNano;
}

const rateCodes = ['rpm', 'tpm', 'concurrency'].flatMap((limit) => [
  `api_key_${limit}_exceeded`,
  `workspace_${limit}_exceeded`,
]);
const latestMs = 3_600_000;

/** Whether a limit of a tag or end user refused it: the key can do nothing about that (contract: call-log/flags). */
const ofTagLimit = `EXISTS (SELECT FROM unnest(flags) AS f (flag)
  WHERE flag = '${tagLimitFlag(endUserName)}' OR starts_with(flag, '${tagLimitFlag('')}'))`;

const latestCalls = `
  SELECT k.id::text AS id, c.* FROM unnest($1::uuid[]) AS k (id) CROSS JOIN LATERAL (
    SELECT count(*)::int AS calls, (array_agg(error_code ORDER BY id DESC))[1] AS code,
      (array_agg(requested_model ORDER BY id DESC))[1] AS model, max(at) AS at,
      count(*) FILTER (WHERE limited)::int AS limited, max(at) FILTER (WHERE limited) AS "limitedAt",
      (array_agg(error_code ORDER BY id DESC) FILTER (WHERE limited))[1] AS "limitedCode"
    FROM (SELECT id, at, error_code, requested_model, coalesce(error_code = ANY ($3::text[]), false)
          AND NOT ${ofTagLimit} AS limited
      FROM call WHERE key_id = k.id AND id >= $2::uuid ORDER BY id DESC LIMIT 100) AS newest
  ) AS c WHERE c.calls > 0`;

/** The latest calls of each key that made one within an hour. @throws Error of the database. */
export async function readLatestCalls(
  store: Pick<Store, 'query'>,
  ids: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, LatestCalls>> {
  const values = [ids, idFloor(nowMs - latestMs), rateCodes];
  const rows = await store.query<LatestCalls & { id: string }>(latestCalls, values);
  return new Map(rows.map((row) => [row.id, row]));
}

/** A minute of spend counts until all of it is outside the window; the cap is free when enough has left. */
const freeing = `
  SELECT max(minute) + ($2::int + 1) * interval '1 minute' AS at FROM (
    SELECT minute, sum(spent_nano) OVER (ORDER BY minute DESC) AS newer
    FROM spend_minute WHERE key_id = $1::uuid AND minute > now() - $2::int * interval '1 minute'
  ) AS minutes WHERE newer >= $3::bigint`;

const windowMinutes = { d7: 7 * 24 * 60, d30: 30 * 24 * 60 };

/** When a sliding cap that is used up admits calls again; null: unknown. @throws Error of the database. */
export async function readFreesAt(
  store: Pick<Store, 'query'>,
  keyId: string,
  window: keyof typeof windowMinutes,
  capNano: bigint,
): Promise<Date | null> {
  const values = [keyId, windowMinutes[window], `${capNano}`];
  const [found] = await store.query<{ at: Date | null }>(freeing, values);
  return found?.at ?? null;
}

/** Balance plus credit of workspaces, nano-dollars, by id. @throws Error of the database. */
export async function readFunds(
  store: Pick<Store, 'query'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await store.query<{ id: string; funds: string }>(
    `SELECT w.id::text AS id, (${fundsNano})::text AS funds FROM workspace w WHERE w.id = ANY ($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map(({ id, funds }) => [id, BigInt(funds)]));
}
