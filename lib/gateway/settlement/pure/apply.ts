import { simulatedProvider } from '#lib/core/simulated';
import { countedModel } from '#lib/gateway/settlement/pure/call-row';
import { type CountedCall, countedOf, type SettledEntry } from '#lib/gateway/settlement/pure/entry';
import {
  addCall,
  newQuarter,
  quarterMs,
  startOf,
  type UsageQuarter,
} from '#lib/gateway/settlement/pure/quarter';
import { addTags, noTagEffects, type TagEffects } from '#lib/gateway/settlement/pure/tag-sums';

/** What newly logged calls change, summed by row and in the order in which rows are locked. */
export interface Effects {
  /** Those with a charge, how many calls have one, and what of it the simulated provider answered. */
  readonly workspaces: readonly {
    readonly id: string;
    readonly spentNano: bigint;
    readonly simulatedNano: bigint;
    readonly calls: number;
  }[];
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
  readonly quarters: readonly UsageQuarter[];
  readonly tags: TagEffects;
}

export const minuteMs = 60_000;

interface Sum {
  spentNano: bigint;
}

interface LeaseSum extends Sum {
  readonly kind: 'workspace' | 'key';
  readonly subjectId: string;
}

interface WorkspaceSum extends Sum {
  readonly id: string;
  simulatedNano: bigint;
  calls: number;
}

/** Where the last call of a key was counted: its next one mostly counts in the same rows. */
interface Place {
  readonly workspaceId: string;
  readonly minuteMs: number;
  readonly model: string;
  readonly provider: string | null;
  readonly quarter: UsageQuarter;
  key: (Sum & { readonly id: string; lastUsedMs: number }) | null;
  workspace: WorkspaceSum | null;
  minute: (Sum & { readonly keyId: string; readonly minuteMs: number }) | null;
  keyLease: LeaseSum | null;
  workspaceLease: LeaseSum | null;
}

/**
 * What these calls change besides their own rows (contract: durability/drain). Spend counts at the minute of
 * admission (contract: money/caps). Each call must be in `entries` once, and only if its row is new.
 */
export function apply(entries: readonly SettledEntry[]): Effects {
  const workspaces = new Map<string, WorkspaceSum>();
  const keys = new Map<string, Sum & { readonly id: string; lastUsedMs: number }>();
  const leases = new Map<string, LeaseSum>();
  const minutes = new Map<string, Sum & { readonly keyId: string; readonly minuteMs: number }>();
  const quarters = new Map<string, UsageQuarter>();
  const places = new Map<string, Place>();
  const tags = noTagEffects();
  const leaseOf = (kind: 'workspace' | 'key', subjectId: string) =>
    row(leases, `${kind} ${subjectId}`, () => ({ kind, subjectId, spentNano: 0n }));
  for (const entry of entries) {
    const call = entry.written === undefined ? countedOf(entry.call) : entry.call;
    const { workspaceId, keyId, atMs, costNano } = call;
    const place = placeOf(places, quarters, call);
    // A refused call uses no key: only admitted ones count for "last used".
    if (entry.kind === 'close') {
      place.key ??= row(keys, keyId, () => ({ id: keyId, spentNano: 0n, lastUsedMs: 0 }));
      if (atMs > place.key.lastUsedMs) place.key.lastUsedMs = atMs;
      place.key.spentNano += costNano;
    }
    if (costNano > 0n) {
      place.workspace ??= row(workspaces, workspaceId, () => noUsageOf(workspaceId));
      place.workspace.spentNano += costNano;
      if (place.provider === simulatedProvider) place.workspace.simulatedNano += costNano;
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
    addCall(place.quarter, call);
    if (call.tags) addTags(tags, call, place.quarter.quarterMs);
  }
  return {
    workspaces: inOrder(workspaces),
    keys: inOrder(keys),
    leases: inOrder(leases),
    minutes: inOrder(minutes),
    quarters: inOrder(quarters),
    tags,
  };
}

function noUsageOf(id: string): WorkspaceSum {
  return { id, spentNano: 0n, simulatedNano: 0n, calls: 0 };
}

function placeOf(places: Map<string, Place>, quarters: Map<string, UsageQuarter>, call: CountedCall): Place {
  const { workspaceId, keyId, provider } = call;
  const minute = startOf(call.atMs, minuteMs);
  const model = countedModel(call);
  const last = places.get(keyId);
  if (last !== undefined && last.minuteMs === minute && last.model === model) {
    if (last.provider === provider && last.workspaceId === workspaceId) return last;
  }
  const at = startOf(call.atMs, quarterMs);
  const name = `${workspaceId} ${at} ${keyId} ${model} ${provider ?? ''}`;
  const quarter = row(quarters, name, () =>
    newQuarter({ workspaceId, keyId, quarterMs: at, model, provider: provider ?? '' }),
  );
  const none = { key: null, workspace: null, minute: null, keyLease: null, workspaceLease: null };
  const place = { workspaceId, minuteMs: minute, model, provider, quarter, ...none };
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

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
