import { plainSpan } from '#lib/core/span';

/** A policy as JSON: what the operator wrote by hand may not be a valid one. */
type Stored = Readonly<Record<string, unknown>>;

const labels: Readonly<Record<string, string>> = {
  sort: 'Sort',
  order: 'Provider order',
  only: 'Only these providers',
  ignore: 'Ignored providers',
  weights: 'Weights',
  fallbackModels: 'Fallback models',
  translate: 'Translation',
  maxPrice: 'Highest price',
  maxBatchHold: 'Highest hold of a batch',
  maxAttempts: 'Attempts',
  aliases: 'Aliases',
  timeouts: 'Time limits',
};

/** A key of a policy as people call it: "Fallback models". */
export const labelOf = (key: string) => labels[key] ?? key;

/** The time limits as people call them; in milliseconds. */
const limits: Readonly<Record<string, string>> = {
  connectMs: 'connect',
  firstByteMs: 'first byte of a stream',
  firstByteWholeMs: 'first byte of a whole answer',
  firstWordMs: 'first word',
  idleMs: 'pause between words',
  totalMs: 'whole call',
  holdMs: 'hold before the first word',
};

const amounts = new Set(['maxPrice', 'maxBatchHold']);

/** An amount or a record of amounts with dollar signs. */
function inDollars(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'number') return `$${value}`;
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inDollars(one)]));
}

/**
 * What differs between two policies, as sentences that people read: "Fallback models: added a/b as number 2". Pure.
 * @returns none when both route alike.
 */
export function changesOf(before: Stored, after: Stored): string[] {
  const keys = [...new Set([...Object.keys(labels), ...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => {
    const [old, now] = amounts.has(key)
      ? [inDollars(before[key]), inDollars(after[key])]
      : [before[key], after[key]];
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    // The model that is asked for is the first one that is tried.
    const said = changesOfValue(old, now, key === 'fallbackModels' ? 2 : 1);
    return said.map((text) => `${labelOf(key)}: ${text}`);
  });
}

/** @param from number of the first item of a list. */
function changesOfValue(old: unknown, now: unknown, from: number): string[] {
  if (isList(old ?? []) && isList(now ?? [])) {
    const [was, is] = [textsOf(old), textsOf(now)];
    if (was.length === 0 && is.length === 0) return [now === undefined ? 'inherited again' : 'set to none'];
    return changesOfList(was, is, from);
  }
  if (isRecord(old ?? {}) && isRecord(now ?? {})) return changesOfRecord(recordOf(old), recordOf(now));
  if (now === undefined) return [`removed ${textOf(old)}`];
  return [old === undefined ? `set to ${textOf(now)}` : `${textOf(old)} → ${textOf(now)}`];
}

function changesOfList(old: readonly string[], now: readonly string[], from: number): string[] {
  const added = now.filter((one) => !old.includes(one));
  const removed = old.filter((one) => !now.includes(one));
  const kept = [old.filter((one) => now.includes(one)), now.filter((one) => old.includes(one))];
  return [
    ...added.map((one) => `added ${one} as number ${now.indexOf(one) + from}`),
    ...removed.map((one) => `removed ${one}`),
    ...(kept[0]?.join() === kept[1]?.join() ? [] : [`the order is ${now.join(', ')}`]),
  ];
}

function changesOfRecord(old: Stored, now: Stored): string[] {
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((name) => {
    const [was, is] = [old[name], now[name]];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    const timed = Object.hasOwn(limits, name);
    const label = timed ? limits[name] : name;
    const show = (value: unknown) => (timed && typeof value === 'number' ? plainSpan(value) : textOf(value));
    if (is === undefined) return [`removed ${label}`];
    if (was === undefined) return [`${label} is ${show(is)}`];
    return [`${label} ${show(was)} → ${show(is)}`];
  });
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', then ') || 'none';
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isRecord = (value: unknown): value is Stored =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textsOf = (value: unknown) => (isList(value) ? value.map(textOf) : []);
const recordOf = (value: unknown): Stored => (isRecord(value) ? value : {});
