import { meteredUsage } from '#lib/metering/anomaly';
import { countedModel } from '#lib/settlement/call-row';
import type { CountedCall, SettledEntry } from '#lib/settlement/entry';

/** Largest figure of one call in the sums by hour; absurd ones stand unchanged in the call's own row. */
const mostCounted = 1_000_000_000_000;

/** What newly logged calls change, summed by row and in the order in which rows are locked. */
export interface Effects {
  /** Those with a charge, and how many calls have one. */
  readonly workspaces: readonly { readonly id: string; readonly spentNano: bigint; readonly calls: number }[];
  /** Those admitted; `lastUsedMs`: ms since the epoch. */
  readonly keys: readonly { readonly id: string; readonly spentNano: bigint; readonly lastUsedMs: number }[];
  /** What leases of the owner no longer need to cover. */
  readonly leases: readonly {
    readonly kind: 'workspace' | 'key';
    readonly subjectId: string;
    readonly spentNano: bigint;
  }[];
  readonly minutes: readonly {
    readonly keyId: string;
    readonly minuteMs: number;
    readonly spentNano: bigint;
  }[];
  readonly hours: readonly UsageHour[];
}

export interface UsageHour {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly hourMs: number;
  readonly model: string;
  readonly provider: string;
  calls: number;
  errors: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  costNano: bigint;
}

export const minuteMs = 60_000;
export const hourMs = 3_600_000;

interface Sum {
  spentNano: bigint;
}

interface LeaseSum extends Sum {
  readonly kind: 'workspace' | 'key';
  readonly subjectId: string;
}

/** Where the last call of a key was counted: its next one mostly counts in the same rows. */
interface Place {
  readonly workspaceId: string;
  readonly minuteMs: number;
  readonly model: string;
  readonly provider: string | null;
  readonly hour: UsageHour;
  key: (Sum & { readonly id: string; lastUsedMs: number }) | null;
  workspace: (Sum & { readonly id: string; calls: number }) | null;
  minute: (Sum & { readonly keyId: string; readonly minuteMs: number }) | null;
  keyLease: LeaseSum | null;
  workspaceLease: LeaseSum | null;
}

/**
 * What these calls change besides their own rows (contract: durability/drain). Spend counts at the minute of
 * admission (contract: money/caps). Each call must stand in `entries` once, and only when its row is new.
 */
export function apply(entries: readonly SettledEntry[]): Effects {
  const workspaces = new Map<string, Sum & { readonly id: string; calls: number }>();
  const keys = new Map<string, Sum & { readonly id: string; lastUsedMs: number }>();
  const leases = new Map<string, LeaseSum>();
  const minutes = new Map<string, Sum & { readonly keyId: string; readonly minuteMs: number }>();
  const hours = new Map<string, UsageHour>();
  const places = new Map<string, Place>();
  const leaseOf = (kind: 'workspace' | 'key', subjectId: string) =>
    row(leases, `${kind} ${subjectId}`, () => ({ kind, subjectId, spentNano: 0n }));
  for (const entry of entries) {
    const { call } = entry;
    const { workspaceId, keyId, atMs, costNano } = call;
    const place = placeOf(places, hours, call);
    // A refused call uses no key: only admitted ones count for "last used".
    if (entry.kind === 'close') {
      place.key ??= row(keys, keyId, () => ({ id: keyId, spentNano: 0n, lastUsedMs: 0 }));
      if (atMs > place.key.lastUsedMs) place.key.lastUsedMs = atMs;
      place.key.spentNano += costNano;
    }
    if (costNano > 0n) {
      place.workspace ??= row(workspaces, workspaceId, () => ({ id: workspaceId, spentNano: 0n, calls: 0 }));
      place.workspace.spentNano += costNano;
      place.workspace.calls += 1;
      const { minuteMs: minute } = place;
      place.minute ??= row(minutes, `${keyId} ${minute}`, () => ({ keyId, minuteMs: minute, spentNano: 0n }));
      place.minute.spentNano += costNano;
      if (entry.kind === 'close' && entry.funding === 'lease') {
        place.keyLease ??= leaseOf('key', keyId);
        place.keyLease.spentNano += costNano;
        place.workspaceLease ??= leaseOf('workspace', workspaceId);
        place.workspaceLease.spentNano += costNano;
      }
    }
    addToHour(place.hour, call, entry.written === undefined ? meteredUsage(entry.call) : entry.call.usage);
  }
  return {
    workspaces: inOrder(workspaces),
    keys: inOrder(keys),
    leases: inOrder(leases),
    minutes: inOrder(minutes),
    hours: inOrder(hours),
  };
}

function placeOf(places: Map<string, Place>, hours: Map<string, UsageHour>, call: CountedCall): Place {
  const { workspaceId, keyId, provider } = call;
  const minute = startOf(call.atMs, minuteMs);
  const model = countedModel(call);
  const last = places.get(keyId);
  if (last !== undefined && last.minuteMs === minute && last.model === model) {
    if (last.provider === provider && last.workspaceId === workspaceId) return last;
  }
  const at = startOf(call.atMs, hourMs);
  const name = `${workspaceId} ${at} ${keyId} ${model} ${provider ?? ''}`;
  const hour = row(hours, name, () => newHour(call, at, model));
  const none = { key: null, workspace: null, minute: null, keyLease: null, workspaceLease: null };
  const place = { workspaceId, minuteMs: minute, model, provider, hour, ...none };
  places.set(keyId, place);
  return place;
}

function row<R>(rows: Map<string, R>, name: string, make: () => R): R {
  const known = rows.get(name);
  if (known !== undefined) return known;
  const made = make();
  rows.set(name, made);
  return made;
}

/** Rows in the order of their names: the order in which every settlement locks them. */
function inOrder<R>(rows: ReadonlyMap<string, R>): R[] {
  return [...rows].sort(byName).map(([, one]) => one);
}

function addToHour(hour: UsageHour, call: CountedCall, usage: CountedCall['usage']): void {
  hour.calls += 1;
  hour.errors += isError(call) ? 1 : 0;
  hour.inputTokens += counted(usage.input);
  hour.cachedTokens += counted(usage.cachedInput);
  hour.outputTokens += counted(usage.output);
  hour.costNano += call.costNano;
}

function newHour(call: CountedCall, at: number, model: string): UsageHour {
  const { workspaceId, keyId, provider } = call;
  const empty = { calls: 0, errors: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costNano: 0n };
  return { workspaceId, keyId, hourMs: at, model, provider: provider ?? '', ...empty };
}

/** An error of the trends: any answer of 400 and above, or a call that broke. */
function isError({ status, endReason }: CountedCall): boolean {
  return status >= 400 || broken.has(endReason);
}

const broken: ReadonlySet<string> = new Set(['upstream_error', 'timeout', 'interrupted']);

/** A figure as the sums by hour count it. */
export function counted(figure: number): number {
  return Number.isInteger(figure) ? Math.min(Math.max(figure, 0), mostCounted) : 0;
}

/** Start of the minute or hour that a moment (ms since the epoch) counts in. */
export function startOf(atMs: number, lengthMs: number): number {
  return Math.floor(atMs / lengthMs) * lengthMs;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
