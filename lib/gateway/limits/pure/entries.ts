import type { Weight } from '#lib/gateway/limits/pure/limits';
import type { WindowEntry } from '#lib/gateway/limits/pure/permit-request';
import { WINDOW_MS } from '#lib/gateway/limits/pure/window';

/**
 * An entry in the window of a key or workspace that this process made, and the permits of it that are still to be
 * used. Monotonic ms.
 */
export interface Entry {
  readonly id: string;
  /** Used: what it weighs when its permits have gone back. */
  requests: number;
  tokens: number;
  spareRequests: number;
  spareTokens: number;
  /** Until when spare permits may be used. */
  spareUntilMono: number;
  usedMono: number;
  /** Whether it has been reported to the store. */
  sent: boolean;
}

/** An entry without permits: for what is used without asking. */
export function newEntry(id: string, nowMono: number): Entry {
  return {
    id,
    requests: 0,
    tokens: 0,
    spareRequests: 0,
    spareTokens: 0,
    spareUntilMono: 0,
    usedMono: nowMono,
    sent: false,
  };
}

/** Whether permits of it may still be used. */
function isSpare(entry: Entry, nowMono: number): boolean {
  return (entry.spareRequests > 0 || entry.spareTokens > 0) && nowMono < entry.spareUntilMono;
}

/** What is reported of it: permits that may still be used weigh as if they were. */
function reportOf(entry: Entry, nowMono: number): WindowEntry {
  const { id, requests, tokens, usedMono } = entry;
  if (!isSpare(entry, nowMono)) return { id, requests, tokens, ageMs: Math.max(0, nowMono - usedMono) };
  return {
    id,
    requests: requests + entry.spareRequests,
    tokens: tokens + entry.spareTokens,
    ageMs: nowMono - entry.spareUntilMono,
  };
}

type Spare = 'spareRequests' | 'spareTokens';

/** The entries that this process made in the window of one key or workspace. Monotonic ms. */
export class EntryBook {
  readonly #newId: () => string;
  /** Of the last 60 s, oldest first: they are reported again to a store that lost them. */
  #recent: Entry[] = [];
  /** Those with permits at hand. */
  #spare: Entry[] = [];
  /** What is used without permits and not reported yet. */
  #open: Entry | null = null;
  readonly #changed = new Set<Entry>();

  /** @param newId unique for each life of a process. */
  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** An entry that has permits for `weight`. */
  find(field: Spare, weight: number, nowMono: number): Entry | undefined {
    for (const entry of this.#spare) {
      if (nowMono < entry.spareUntilMono && entry[field] >= weight && entry[field] > 0) return entry;
    }
    return undefined;
  }

  /** Permits at hand. */
  left(field: Spare, nowMono: number): number {
    let left = 0;
    for (const entry of this.#spare) if (nowMono < entry.spareUntilMono) left += entry[field];
    return left;
  }

  /** Counts what is used out of an entry's permits; without one, it counts beyond all permits. */
  use(from: Entry | undefined, requests: number, tokens: number, nowMono: number): Entry {
    const entry = from ?? this.#openOne(nowMono);
    entry.requests += requests;
    entry.tokens += tokens;
    entry.usedMono = nowMono;
    return entry;
  }

  /** An entry weighs less than was reported. */
  lower(entry: Entry, { requests, tokens }: Weight): void {
    entry.requests -= requests;
    entry.tokens -= tokens;
    if (entry !== this.#open) this.#changed.add(entry);
  }

  /** The entry of a permit request that was answered. */
  add(entry: Entry): void {
    if (entry.spareRequests > 0 || entry.spareTokens > 0) this.#spare.push(entry);
    else if (entry.requests === 0 && entry.tokens === 0) return;
    this.#recent.push(entry);
  }

  get hasSpare(): boolean {
    return this.#spare.length > 0;
  }

  hasChanges(nowMono: number): boolean {
    this.#expire(nowMono);
    return this.#open !== null || this.#changed.size > 0;
  }

  /** What is to be reported to the store; it counts as reported. */
  changes(nowMono: number): { readonly used: WindowEntry[]; readonly lowered: WindowEntry[] } {
    this.#expire(nowMono);
    const changed = [...this.#changed];
    const used = changed.filter(({ sent }) => !sent);
    if (this.#open) used.push(this.#open);
    for (const entry of used) entry.sent = true;
    this.#open = null;
    this.#changed.clear();
    const report = (entry: Entry) => reportOf(entry, nowMono);
    // A report that failed may have arrived nevertheless: its lower weight is sent too.
    return { used: used.map(report), lowered: changed.map(report) };
  }

  /** A report did not arrive, or may not have: it is made again. */
  reportAgain(used: readonly WindowEntry[], lowered: readonly WindowEntry[], nowMono: number): void {
    const again = new Set(used.map(({ id }) => id));
    const ids = new Set(lowered.map(({ id }) => id));
    for (const entry of this.#recent) {
      if (again.has(entry.id)) entry.sent = false;
      if (again.has(entry.id) || ids.has(entry.id)) this.#changed.add(entry);
      ids.delete(entry.id);
    }
    for (const id of ids) this.disown(id, nowMono);
  }

  /** A permit request that was not answered may have been carried out: its entry must weigh nothing. */
  disown(id: string, nowMono: number): void {
    this.#changed.add({ ...newEntry(id, nowMono), sent: true });
  }

  /** Everything of the last 60 s, for a store that has lost it; permits at hand are void. */
  all(nowMono: number): WindowEntry[] {
    for (const entry of this.#spare) entry.spareUntilMono = 0;
    this.#expire(nowMono);
    this.#open = null;
    this.#changed.clear();
    const used = this.#recent.filter(({ requests, tokens }) => requests > 0 || tokens > 0);
    for (const entry of used) entry.sent = true;
    return used.map((entry) => reportOf(entry, nowMono));
  }

  empty(nowMono: number): boolean {
    return !this.hasChanges(nowMono) && this.#recent.length === 0;
  }

  #openOne(nowMono: number): Entry {
    if (this.#open) return this.#open;
    this.#open = newEntry(this.#newId(), nowMono);
    this.#recent.push(this.#open);
    return this.#open;
  }

  #expire(nowMono: number): void {
    if (this.#spare.some((entry) => !isSpare(entry, nowMono))) {
      this.#spare = this.#spare.filter((entry) => {
        if (isSpare(entry, nowMono)) return true;
        entry.spareRequests = 0;
        entry.spareTokens = 0;
        this.#changed.add(entry);
        return false;
      });
    }
    const oldest = nowMono - WINDOW_MS;
    const first = this.#recent.findIndex((entry) => entry.usedMono > oldest || isSpare(entry, nowMono));
    if (first !== 0) this.#recent = first < 0 ? [] : this.#recent.slice(first);
  }
}
