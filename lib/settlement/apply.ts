import { attemptRow, countedModel } from '#lib/settlement/call-row';
import type { CallRecord, SettledEntry } from '#lib/settlement/entry';

/** Largest figure of one call in the sums by hour; absurd ones stand unchanged in the call's own row. */
const mostCounted = 1_000_000_000_000;

/** What newly logged calls change, summed by row and in the order in which rows are locked. */
export interface Effects {
  readonly attempts: readonly ReturnType<typeof attemptRow>[];
  /** One a call with a charge; amounts below zero take money. */
  readonly lines: readonly {
    readonly callId: string;
    readonly workspaceId: string;
    readonly keyId: string;
    readonly amountNano: bigint;
  }[];
  readonly workspaces: readonly { readonly id: string; readonly spentNano: bigint }[];
  /** `lastUsedMs`: ms since the epoch. */
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

const minuteMs = 60_000;
const hourMs = 3_600_000;

/**
 * What these calls change besides their own rows (architecture §3). Spend counts at the minute of
 * admission (decisions §7). Each call must stand in `entries` once, and only when its row is new.
 */
export function apply(entries: readonly SettledEntry[]): Effects {
  const charged = entries.filter(({ call }) => call.costNano > 0n);
  const leased = charged.filter((entry) => entry.kind === 'close' && entry.funding === 'lease');
  return {
    attempts: entries.flatMap(({ call }) =>
      call.attempts.map((attempt, position) => attemptRow(call, attempt, position)),
    ),
    lines: charged.map(({ call }) => ({
      callId: call.id,
      workspaceId: call.workspaceId,
      keyId: call.keyId,
      amountNano: -call.costNano,
    })),
    workspaces: sums(charged, (call) => call.workspaceId).map(([id, spentNano]) => ({ id, spentNano })),
    keys: keysOf(entries),
    leases: [
      ...sums(leased, (call) => call.keyId).map(leaseOf('key')),
      ...sums(leased, (call) => call.workspaceId).map(leaseOf('workspace')),
    ],
    minutes: sums(charged, (call) => `${call.keyId} ${startOf(call.atMs, minuteMs)}`).map(
      ([row, spentNano]) => {
        const [keyId = '', minute] = row.split(' ');
        return { keyId, minuteMs: Number(minute), spentNano };
      },
    ),
    hours: hoursOf(entries),
  };
}

/** Charges by row, in the order of the rows' names. */
function sums(entries: readonly SettledEntry[], rowOf: (call: CallRecord) => string): [string, bigint][] {
  const found = new Map<string, bigint>();
  for (const { call } of entries) found.set(rowOf(call), (found.get(rowOf(call)) ?? 0n) + call.costNano);
  return [...found].sort(byName);
}

function leaseOf(kind: 'workspace' | 'key') {
  return ([subjectId, spentNano]: [string, bigint]) => ({ kind, subjectId, spentNano });
}

/** A refused call uses no key: only admitted ones count for "last used". */
function keysOf(entries: readonly SettledEntry[]): Effects['keys'] {
  const admitted = entries.filter((entry) => entry.kind === 'close');
  const lastUsed = new Map<string, number>();
  for (const { call } of admitted) {
    lastUsed.set(call.keyId, Math.max(lastUsed.get(call.keyId) ?? 0, call.atMs));
  }
  return sums(admitted, (call) => call.keyId).map(([id, spentNano]) => ({
    id,
    spentNano,
    lastUsedMs: lastUsed.get(id) ?? 0,
  }));
}

function hoursOf(entries: readonly SettledEntry[]): UsageHour[] {
  const found = new Map<string, UsageHour>();
  for (const { call } of entries) {
    const at = startOf(call.atMs, hourMs);
    const model = countedModel(call);
    const name = `${call.workspaceId} ${at} ${call.keyId} ${model} ${call.provider ?? ''}`;
    const row = found.get(name) ?? newHour(call, at, model);
    row.calls += 1;
    row.errors += isError(call) ? 1 : 0;
    row.inputTokens += counted(call.usage.input);
    row.cachedTokens += counted(call.usage.cachedInput);
    row.outputTokens += counted(call.usage.output);
    row.costNano += call.costNano;
    found.set(name, row);
  }
  return [...found].sort(byName).map(([, row]) => row);
}

function newHour(call: CallRecord, at: number, model: string): UsageHour {
  const { workspaceId, keyId, provider } = call;
  const empty = { calls: 0, errors: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costNano: 0n };
  return { workspaceId, keyId, hourMs: at, model, provider: provider ?? '', ...empty };
}

/** An error of the trends: any answer of 400 and above, or a call that broke. */
function isError(call: CallRecord): boolean {
  return call.status >= 400 || ['upstream_error', 'timeout', 'interrupted'].includes(call.endReason);
}

function counted(figure: number): number {
  return Number.isInteger(figure) ? Math.min(Math.max(figure, 0), mostCounted) : 0;
}

function startOf(atMs: number, lengthMs: number): number {
  return Math.floor(atMs / lengthMs) * lengthMs;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
