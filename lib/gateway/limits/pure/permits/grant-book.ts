import type { Weight, WindowEntry } from '#lib/gateway/limits/pure/permit-request';
import { entryOf, type Grant, isSpare, newGrant } from '#lib/gateway/limits/pure/permits/grant';
import { WINDOW_MS } from '#lib/gateway/limits/pure/window';

type Spare = 'spareRequests' | 'spareTokens';

/** The entries that this process made in the window of one key or workspace. Monotonic ms. */
export class GrantBook {
  readonly #newId: () => string;
  /** Of the last 60 s, oldest first: they are told again to a store that lost them. */
  #recent: Grant[] = [];
  /** Those with permits at hand. */
  #spare: Grant[] = [];
  /** What is used without permits until the store is told. */
  #open: Grant | null = null;
  readonly #changed = new Set<Grant>();

  /** @param newId unique for each life of a process. */
  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** An entry that has permits for `weight`. */
  find(field: Spare, weight: number, nowMono: number): Grant | undefined {
    for (const grant of this.#spare) {
      if (nowMono < grant.spareUntilMono && grant[field] >= weight && grant[field] > 0) return grant;
    }
    return undefined;
  }

  /** Permits at hand. */
  left(field: Spare, nowMono: number): number {
    let left = 0;
    for (const grant of this.#spare) if (nowMono < grant.spareUntilMono) left += grant[field];
    return left;
  }

  /** Counts what is used out of an entry's permits; without one, it counts beyond all permits. */
  use(from: Grant | undefined, requests: number, tokens: number, nowMono: number): Grant {
    const grant = from ?? this.#openOne(nowMono);
    grant.requests += requests;
    grant.tokens += tokens;
    grant.usedMono = nowMono;
    return grant;
  }

  /** An entry weighs less than the store was told. */
  lower(grant: Grant, { requests, tokens }: Weight): void {
    grant.requests -= requests;
    grant.tokens -= tokens;
    if (grant !== this.#open) this.#changed.add(grant);
  }

  /** The entry of a permit request that was answered. */
  add(grant: Grant): void {
    if (grant.spareRequests > 0 || grant.spareTokens > 0) this.#spare.push(grant);
    else if (grant.requests === 0 && grant.tokens === 0) return;
    this.#recent.push(grant);
  }

  hasNews(nowMono: number): boolean {
    this.#expire(nowMono);
    return this.#open !== null || this.#changed.size > 0;
  }

  /** What the store has to be told; it counts as told. */
  news(nowMono: number): { readonly used: WindowEntry[]; readonly lowered: WindowEntry[] } {
    this.#expire(nowMono);
    const changed = [...this.#changed];
    const used = changed.filter(({ sent }) => !sent);
    if (this.#open) used.push(this.#open);
    for (const grant of used) grant.sent = true;
    this.#open = null;
    this.#changed.clear();
    const told = (grant: Grant) => entryOf(grant, nowMono);
    // A report that failed may have arrived all the same: its lower weight is sent too.
    return { used: used.map(told), lowered: changed.map(told) };
  }

  /** News that did not arrive, or nobody knows: they are told again. */
  untold(used: readonly WindowEntry[], lowered: readonly WindowEntry[], nowMono: number): void {
    const again = new Set(used.map(({ id }) => id));
    const ids = new Set(lowered.map(({ id }) => id));
    for (const grant of this.#recent) {
      if (again.has(grant.id)) grant.sent = false;
      if (again.has(grant.id) || ids.has(grant.id)) this.#changed.add(grant);
      ids.delete(grant.id);
    }
    for (const id of ids) this.disown(id, nowMono);
  }

  /** A permit request that was not answered may have been carried out: its entry must weigh nothing. */
  disown(id: string, nowMono: number): void {
    this.#changed.add({ ...newGrant(id, nowMono), sent: true });
  }

  /** Everything of the last 60 s, for a store that has lost it; permits at hand are void. */
  all(nowMono: number): WindowEntry[] {
    for (const grant of this.#spare) grant.spareUntilMono = 0;
    this.#expire(nowMono);
    this.#open = null;
    this.#changed.clear();
    const used = this.#recent.filter(({ requests, tokens }) => requests > 0 || tokens > 0);
    for (const grant of used) grant.sent = true;
    return used.map((grant) => entryOf(grant, nowMono));
  }

  empty(nowMono: number): boolean {
    return !this.hasNews(nowMono) && this.#recent.length === 0;
  }

  #openOne(nowMono: number): Grant {
    if (this.#open) return this.#open;
    this.#open = newGrant(this.#newId(), nowMono);
    this.#recent.push(this.#open);
    return this.#open;
  }

  #expire(nowMono: number): void {
    if (this.#spare.some((grant) => !isSpare(grant, nowMono))) {
      this.#spare = this.#spare.filter((grant) => {
        if (isSpare(grant, nowMono)) return true;
        grant.spareRequests = 0;
        grant.spareTokens = 0;
        this.#changed.add(grant);
        return false;
      });
    }
    const oldest = nowMono - WINDOW_MS;
    const first = this.#recent.findIndex((grant) => grant.usedMono > oldest || isSpare(grant, nowMono));
    if (first !== 0) this.#recent = first < 0 ? [] : this.#recent.slice(first);
  }
}
