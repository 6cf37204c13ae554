import { readSpend } from '#lib/control/operations/key/spend';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';

/** Only the caps of the most recently used keys are checked. */
const mostKeys = 50;
/** Share of a cap from which it is shown. */
const nearShare = 0.8;

/** A cap of a key that is nearly or completely used up. */
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
}

const findCapped = `
  SELECT id::text AS id, name, daily_cap_nano::text AS daily_cap, d7_cap_nano::text AS d7_cap,
    d30_cap_nano::text AS d30_cap, quota_nano::text AS quota, spent_nano::text AS spent
  FROM api_key WHERE workspace_id = $1::uuid AND status = 'active'
    AND (daily_cap_nano IS NOT NULL OR d7_cap_nano IS NOT NULL OR d30_cap_nano IS NOT NULL OR quota_nano IS NOT NULL)
  ORDER BY last_used_at DESC NULLS LAST LIMIT ${mostKeys}`;

/** Caps and quotas of keys in use that are at 80% or more, fullest first. */
export async function findNearCaps(store: Store, { workspaceId }: WorkspaceScope): Promise<NearCap[]> {
  const rows = await store.query<Row>(findCapped, [workspaceId]);
  const spendOf = await readSpend(
    store,
    rows.map(({ id }) => id),
  );
  const caps = rows.flatMap(({ id, name, ...row }) => {
    const spend = spendOf(id);
    return (
      [
        ['day', spend.dayNano, row.daily_cap],
        ['d7', spend.d7Nano, row.d7_cap],
        ['d30', spend.d30Nano, row.d30_cap],
        ['quota', BigInt(row.spent), row.quota],
      ] as const
    ).flatMap(([span, spentNano, cap]) =>
      cap === null ? [] : [{ id, name, span, spentNano, capNano: BigInt(cap) }],
    );
  });
  return caps.filter((cap) => usedOf(cap) >= nearShare).sort((one, other) => usedOf(other) - usedOf(one));
}

/** The used share of a cap; above 1 if the call that crossed it cost more than was left. */
export function usedOf({ spentNano, capNano }: Pick<NearCap, 'spentNano' | 'capNano'>): number {
  return Number(spentNano) / Number(capNano);
}
