import { showAgo, showDay, showMoment, showZone } from '#lib/console/show/time';

interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly role: string | null;
  readonly status: 'active' | 'revoked';
  readonly display: string;
  readonly madeBy: string | null;
  readonly lastUsedAt: string | null;
  readonly createdAt: string;
}

/** A management key, formatted. */
export interface ManagementKeyRow {
  readonly id: string;
  readonly name: string;
  readonly display: string;
  readonly role: string;
  readonly active: boolean;
  readonly madeBy: string;
  /** null: never. */
  readonly used: { readonly text: string; readonly exact: string } | null;
  readonly created: { readonly text: string; readonly exact: string };
}

export function managementKeyRowOf(
  key: ListedKey,
  place: { timeZone: string; nowMs: number },
): ManagementKeyRow {
  const { timeZone, nowMs } = place;
  const exact = (atMs: number) => `${showMoment(atMs, timeZone)} (${showZone(timeZone, atMs)})`;
  const [createdMs, usedMs] = [Date.parse(key.createdAt), Date.parse(key.lastUsedAt ?? '')];
  return {
    id: key.id,
    name: key.name,
    display: key.display,
    role: key.role ?? 'none',
    active: key.status === 'active',
    madeBy: key.madeBy ?? 'The operator',
    used: key.lastUsedAt === null ? null : { text: showAgo(usedMs, nowMs), exact: exact(usedMs) },
    created: { text: showDay(createdMs, timeZone), exact: exact(createdMs) },
  };
}
