import type { Pool } from 'pg';
import type { Found } from '#lib/control/alerts/kinds';
import type { LimitUse } from '#lib/gateway/limits/pure/limit-book';

/** What counts against a limit of requests or tokens, in sum, of a key in a quarter of an hour. */
interface Sum {
  readonly workspace: string;
  readonly key: string;
  /** ISO. */
  readonly quarter: string;
  readonly calls: number;
  readonly tokens: number;
}

/** The sums as they were at one moment. */
export interface Look {
  readonly atMs: number;
  readonly sums: readonly Sum[];
}

/** The limits of a workspace (`key` null) or of a key; null: none. */
export interface RateLimits {
  readonly workspace: string;
  readonly key: string | null;
  readonly name: string;
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
}

/** The used share of a limit from which an alert is raised, percent. */
const nearPercent = 80 as const;
/** How far apart two looks must be to say what a minute used, ms. */
const [leastApartMs, mostApartMs] = [55_000, 150_000];
/** For how many, the busiest first, one look asks for the calls at once. */
const mostAsked = 50;

/** Prefix of the subjects of these alerts, which do not end while their use is unknown. */
export const rateSubject = 'rate ';

/** Admitted calls, and tokens as limits count them (contract: limits/tpm), of the quarters that still change. */
const sums = `
  SELECT w.id::text AS workspace, u.key_id::text AS key, u.quarter, sum(u.calls - u.refused)::float8 AS calls,
    sum(u.input_tokens + u.cache_write_5m_tokens + u.cache_write_1h_tokens + u.output_tokens)::float8 AS tokens
  FROM workspace w JOIN usage_quarter u ON u.workspace_id = w.id AND u.quarter > now() - interval '31 minutes'
  WHERE w.deleted_at IS NULL AND NOT w.demo GROUP BY w.id, u.key_id, u.quarter`;

const limited = `
  SELECT id::text AS workspace, NULL AS key, 'the workspace' AS name, rpm, tpm, concurrency FROM workspace
  WHERE id = ANY ($1::uuid[]) AND (rpm IS NOT NULL OR tpm IS NOT NULL OR concurrency IS NOT NULL)
  UNION ALL
  SELECT workspace_id::text, id::text, name, rpm, tpm, concurrency FROM api_key
  WHERE id = ANY ($2::uuid[]) AND status = 'active'
    AND (rpm IS NOT NULL OR tpm IS NOT NULL OR concurrency IS NOT NULL)`;

type LimitFound = Extract<Found, { readonly kind: 'limit' }>;

/** What the gateway processes of this machine count against the limits of a key or workspace. */
export type AskUse = (id: string) => Promise<readonly LimitUse[]>;

/**
 * Finds limits that are nearly used up. Requests and tokens come from the sums of usage, of all machines, between two
 * looks a minute apart; calls at once are what runs on this machine at the moment.
 */
export class RateWatch {
  readonly #pool: Pool;
  readonly #askUse: AskUse;
  #looks: readonly Look[] = [];

  constructor(pool: Pool, askUse: AskUse) {
    this.#pool = pool;
    this.#askUse = askUse;
  }

  /** @returns null until two looks are a minute apart. @throws Error of the database. */
  async find(nowMs: number): Promise<Found[] | null> {
    type Row = Omit<Sum, 'quarter'> & { quarter: Date };
    const { rows } = await this.#pool.query<Row>(sums);
    const now = { atMs: nowMs, sums: rows.map((row) => ({ ...row, quarter: row.quarter.toISOString() })) };
    const before = this.#looks.findLast(({ atMs }) => isApart(atMs, nowMs));
    this.#looks = [...this.#looks.filter(({ atMs }) => nowMs - atMs < mostApartMs), now];
    if (!before) return null;
    const used = minuteBetween(before, now);
    const workspaces = [...new Set(now.sums.map(({ workspace }) => workspace))].filter((id) => used.has(id));
    const keys = [...used.keys()].filter((id) => !workspaces.includes(id));
    if (used.size === 0) return [];
    const limits = (await this.#pool.query<RateLimits>(limited, [workspaces, keys])).rows;
    return nearLimits(limits, used, await this.#atOnce(limits, used));
  }

  async #atOnce(limits: readonly RateLimits[], used: ReadonlyMap<string, Minute>) {
    const busiest = limits
      .filter(({ concurrency }) => concurrency !== null)
      .sort((one, other) => callsOf(other, used) - callsOf(one, used))
      .slice(0, mostAsked);
    const running = new Map<string, number>();
    for (const { key, workspace } of busiest) {
      const id = key ?? workspace;
      const processes = await this.#askUse(id);
      running.set(
        id,
        processes.reduce((sum, { atOnce }) => sum + atOnce, 0),
      );
    }
    return running;
  }
}

function isApart(atMs: number, nowMs: number): boolean {
  return nowMs - atMs >= leastApartMs && nowMs - atMs <= mostApartMs;
}

function callsOf({ key, workspace }: RateLimits, used: ReadonlyMap<string, Minute>): number {
  return used.get(key ?? workspace)?.calls ?? 0;
}

interface Minute {
  readonly calls: number;
  readonly tokens: number;
}

/**
 * What a minute used between two looks, by id of workspace and of key; those that used nothing are left out. Pure. A
 * quarter that the first look did not see began after it.
 */
export function minuteBetween(before: Look, now: Look): Map<string, Minute> {
  const nameOf = ({ workspace, key, quarter }: Sum) => `${workspace} ${key} ${quarter}`;
  const was = new Map(before.sums.map((sum) => [nameOf(sum), sum]));
  const scale = 60_000 / (now.atMs - before.atMs);
  const used = new Map<string, { calls: number; tokens: number }>();
  for (const sum of now.sums) {
    const calls = (sum.calls - (was.get(nameOf(sum))?.calls ?? 0)) * scale;
    const tokens = (sum.tokens - (was.get(nameOf(sum))?.tokens ?? 0)) * scale;
    if (calls <= 0 && tokens <= 0) continue;
    for (const id of new Set([sum.workspace, sum.key])) {
      const known = used.get(id) ?? { calls: 0, tokens: 0 };
      used.set(id, { calls: known.calls + calls, tokens: known.tokens + tokens });
    }
  }
  return used;
}

/** The limits of which four fifths are used. Pure. @param running calls at once, by id. */
export function nearLimits(
  limits: readonly RateLimits[],
  used: ReadonlyMap<string, Minute>,
  running: ReadonlyMap<string, number>,
): LimitFound[] {
  return limits.flatMap(({ workspace, key, name, rpm, tpm, concurrency }) => {
    const id = key ?? workspace;
    const minute = used.get(id);
    return [
      { limit: 'the limit of requests a minute', use: minute?.calls ?? 0, most: rpm },
      { limit: 'the limit of tokens a minute', use: minute?.tokens ?? 0, most: tpm },
      { limit: 'the limit of concurrent calls', use: running.get(id) ?? 0, most: concurrency },
    ].flatMap(({ limit, use, most }): LimitFound[] => {
      if (most === null || use * 100 < most * nearPercent) return [];
      const facts = { ...(key === null ? {} : { key }), name, limit, level: nearPercent, most };
      return [{ workspaceId: workspace, kind: 'limit', subject: `${rateSubject}${id} ${limit}`, facts }];
    });
  });
}
