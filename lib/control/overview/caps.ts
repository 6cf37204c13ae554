import type { WorkspaceScope } from '#lib/control/scope';
import type { Store } from '#lib/control/store';
import { inZone } from '#lib/control/time-zone';

/** Keys whose caps are looked at: those that were used last. */
const mostKeys = 50;
/** From this share on a cap is worth a word. */
const nearShare = 0.8;

/** A cap of a key that is nearly used up, or is. */
export interface NearCap {
  readonly id: string;
  readonly name: string;
  readonly span: 'day' | 'd7' | 'd30' | 'quota';
  readonly spentNano: bigint;
  readonly capNano: bigint;
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly daily_cap: string | null;
  readonly d7_cap: string | null;
  readonly d30_cap: string | null;
  readonly quota: string | null;
  readonly spent: string;
  readonly day: string;
  readonly d7: string;
  readonly d30: string;
}

/** Windows as those of `key.show`: of whole minutes, days of the workspace's zone. */
const findCapped = `
  SELECT k.id::text AS id, k.name, k.daily_cap_nano::text AS daily_cap, k.d7_cap_nano::text AS d7_cap,
    k.d30_cap_nano::text AS d30_cap, k.quota_nano::text AS quota, k.spent_nano::text AS spent,
    coalesce(s.day, 0)::text AS day, coalesce(s.d7, 0)::text AS d7, coalesce(s.d30, 0)::text AS d30
  FROM (
    SELECT * FROM api_key WHERE workspace_id = $1::uuid AND status = 'active'
      AND (daily_cap_nano IS NOT NULL OR d7_cap_nano IS NOT NULL OR d30_cap_nano IS NOT NULL OR quota_nano IS NOT NULL)
    ORDER BY last_used_at DESC NULLS LAST LIMIT ${mostKeys}
  ) k JOIN workspace w ON w.id = k.workspace_id
  CROSS JOIN LATERAL (SELECT coalesce($2, w.time_zone) AS zone) z
  LEFT JOIN LATERAL (
    SELECT sum(spent_nano) FILTER (WHERE minute >=
        date_trunc('day', now() AT TIME ZONE z.zone) AT TIME ZONE z.zone) AS day,
      sum(spent_nano) FILTER (WHERE minute > now() - interval '168 hours') AS d7, sum(spent_nano) AS d30
    FROM spend_minute WHERE key_id = k.id AND minute > now() - interval '720 hours'
      AND (k.daily_cap_nano IS NOT NULL OR k.d7_cap_nano IS NOT NULL OR k.d30_cap_nano IS NOT NULL)
  ) s ON true`;

/** Caps and quotas of keys in use that are at four fifths or beyond, the fullest first. */
export async function findNearCaps(store: Store, { workspaceId }: WorkspaceScope): Promise<NearCap[]> {
  const rows = await inZone(null, (zone) => store.query<Row>(findCapped, [workspaceId, zone]));
  const caps = rows.flatMap(({ id, name, ...row }) =>
    (
      [
        ['day', row.day, row.daily_cap],
        ['d7', row.d7, row.d7_cap],
        ['d30', row.d30, row.d30_cap],
        ['quota', row.spent, row.quota],
      ] as const
    ).flatMap(([span, spent, cap]) =>
      cap === null ? [] : [{ id, name, span, spentNano: BigInt(spent), capNano: BigInt(cap) }],
    ),
  );
  return caps.filter((cap) => usedOf(cap) >= nearShare).sort((one, other) => usedOf(other) - usedOf(one));
}

/** The share of a cap that is used; above 1 when the call that crossed it cost more. */
export function usedOf({ spentNano, capNano }: Pick<NearCap, 'spentNano' | 'capNano'>): number {
  return Number(spentNano) / Number(capNano);
}
