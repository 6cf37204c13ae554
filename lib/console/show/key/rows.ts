import { keyStatusOf } from '#lib/console/show/key/status';
import { showAgo, showDay, showMoment, showZone, wallDay } from '#lib/console/show/time';
import type { Fields } from '#lib/control/operations/field/field';
import { keySettings, type ShownKey } from '#lib/control/operations/key/settings';
import { parseUsd } from '#lib/core/money';
import { showCount, showMoney } from '#lib/core/show-money';

export interface KeyRowPlace {
  /** Slug. */
  readonly workspace: string;
  readonly timeZone: string;
  readonly nowMs: number;
}

/** A row of the list of keys, formatted. */
export function keyRowOf(key: ShownKey, { workspace, timeZone, nowMs }: KeyRowPlace) {
  const exact = (iso: string) =>
    `${showMoment(Date.parse(iso), timeZone)} (${showZone(timeZone, Date.parse(iso))})`;
  const expiresMs = key.expiresAt === null ? null : Date.parse(key.expiresAt);
  return {
    id: key.id,
    name: key.name,
    masked: key.display,
    active: key.status === 'active',
    revoked: key.status === 'revoked',
    status: keyStatusOf(key, { timeZone, nowMs }),
    exhausted: key.quotaExhausted,
    models: key.models,
    limits: limitsOf(key),
    spent30d: showMoney(key.spent.d30),
    exactSpent30d: key.spent.d30,
    spentTotal: showMoney(key.spent.total),
    exactSpentTotal: key.spent.total,
    creator: key.createdBy?.name ?? null,
    cap: nearestCap(key),
    lastUsed: lastUseOf(key, exact, nowMs),
    created: { text: showDay(Date.parse(key.createdAt), timeZone), exact: exact(key.createdAt) },
    expires:
      expiresMs === null || expiresMs <= nowMs || key.status === 'revoked'
        ? null
        : showDay(expiresMs, timeZone),
    earlier:
      key.earlier === null || key.status === 'revoked' || Date.parse(key.earlier.until) <= nowMs
        ? null
        : {
            masked: key.earlier.display ?? 'The old secret',
            until: showMoment(Date.parse(key.earlier.until), timeZone),
          },
    settings: settingsOf(key, timeZone),
    href: `/${workspace}/keys/${key.id}`,
    logHref: `/${workspace}/logs?key=${key.id}`,
  };
}

/** A refused call does not count as a use of the key, but the page must show that the key was tried. */
function lastUseOf({ lastUsedAt, lastTriedAt }: ShownKey, exact: (iso: string) => string, nowMs: number) {
  const at = lastUsedAt ?? lastTriedAt;
  if (at === null) return null;
  const ago = showAgo(Date.parse(at), nowMs);
  return {
    ...(lastUsedAt ? { text: ago, note: null } : { text: 'Never answered', note: `last tried ${ago}` }),
    exact: exact(at),
  };
}

/** What stands in the boxes of a form that edits the key: each of its settings, but for those that are not set. */
function settingsOf(key: ShownKey, timeZone: string): Record<string, string | readonly string[]> {
  const fields: Fields = keySettings;
  const settings: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(key)) {
    const kind = fields[name]?.kind;
    if (kind === undefined || value === null) continue;
    if (Array.isArray(value)) settings[name] = value;
    else settings[name] = kind === 'moment' ? wallDay(Date.parse(String(value)), timeZone) : String(value);
  }
  return settings;
}

/**
 * Limits and caps in words, except for the nearest cap, which is shown with its use: "$5.00 a day", "60 RPM".
 */
function limitsOf(key: ShownKey): string[] {
  const [, ...others] = capsOf(key);
  const limits = others.map(({ cap, span }) => `${showMoney(cap)} ${span}`);
  if (key.rpm !== null) limits.push(`${showCount(key.rpm)} RPM`);
  if (key.tpm !== null) limits.push(`${showCount(key.tpm)} TPM`);
  if (key.concurrency !== null) limits.push(`${showCount(key.concurrency)} at once`);
  if (key.maxOutputTokens !== null) limits.push(`${showCount(key.maxOutputTokens)} output tokens`);
  return limits;
}

/** The caps of a key with the used share of each, nearest to its limit first. */
function capsOf(key: ShownKey) {
  return [
    { cap: key.dailyCap, spent: key.spent.day, span: 'a day' },
    { cap: key.d7Cap, spent: key.spent.d7, span: 'in 7 days' },
    { cap: key.d30Cap, spent: key.spent.d30, span: 'in 30 days' },
    { cap: key.quota, spent: key.spent.total, span: 'lifetime' },
  ]
    .flatMap(({ cap, spent, span }) =>
      cap === null ? [] : [{ cap, span, used: Number(parseUsd(spent)) / Number(parseUsd(cap)) }],
    )
    .sort((one, other) => other.used - one.used);
}

/** The cap that is nearest to its limit, in words; null without caps. */
function nearestCap(key: ShownKey): { used: number; text: string } | null {
  const [nearest] = capsOf(key);
  if (!nearest) return null;
  const { used, cap, span } = nearest;
  return { used, text: `${Math.floor(used * 100 + 1e-9)}% of ${showMoney(cap)} ${span}` };
}
