import {
  decidePermits,
  freedOf,
  type LimitStore,
  type PermitAnswer,
  type PermitRequest,
  permitMs,
  slotLifeMs,
} from '#lib/gateway/limits/pure/permit-request';
import { WINDOW_MS } from '#lib/gateway/limits/pure/window';

interface Entry {
  atMs: number;
  requests: number;
  tokens: number;
}

interface Book {
  readonly entries: Map<string, Entry>;
  readonly slots: Map<string, { slots: number; untilMs: number }>;
}

/**
 * The contract of a store of limits, in memory and with the test's clock: the model that real stores are
 * compared with.
 */
export class MemoryStore implements LimitStore {
  readonly name = 'memory';
  readonly patienceMs = Number.POSITIVE_INFINITY;
  readonly #now: () => number;
  #books = new Map<string, Book>();
  #last = new Map<string, { turn: number; answer: PermitAnswer }>();
  #epochs = new Map<string, string>();
  #epoch = 0;

  /** @param now ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  async carryOut(ask: PermitRequest): Promise<PermitAnswer> {
    const nowMs = this.#now();
    const epoch = this.#epochs.get(ask.workspaceId) ?? `${++this.#epoch}`;
    this.#epochs.set(ask.workspaceId, epoch);
    const lost: PermitAnswer = { epoch, lost: true, admitted: [], subjects: [] };
    if (ask.epoch !== null && ask.epoch !== epoch) return lost;
    const turns = `${ask.workspaceId} ${ask.process}`;
    const last = this.#last.get(turns);
    if (last && last.turn >= ask.turn) return last.turn === ask.turn ? last.answer : lost;
    const books = ask.subjects.map((subject) => {
      const book = this.#books.get(subject.id) ?? { entries: new Map(), slots: new Map() };
      this.#books.set(subject.id, book);
      for (const [id, { untilMs }] of book.slots) if (untilMs <= nowMs) book.slots.delete(id);
      for (const { id, requests, tokens, ageMs } of subject.lowered) {
        const entry = book.entries.get(id);
        if (!entry) continue;
        entry.requests = Math.min(entry.requests, requests);
        entry.tokens = Math.min(entry.tokens, tokens);
        entry.atMs = Math.min(entry.atMs, nowMs - ageMs);
      }
      for (const { id, requests, tokens, ageMs } of subject.used) {
        if (!book.entries.has(id)) book.entries.set(id, { atMs: nowMs - ageMs, requests, tokens });
      }
      for (const [id, { atMs }] of book.entries) if (atMs <= nowMs - WINDOW_MS) book.entries.delete(id);
      book.slots.set(ask.process, { slots: subject.slots, untilMs: nowMs + slotLifeMs });
      return book;
    });
    const sum = (book: Book, field: 'requests' | 'tokens') =>
      [...book.entries.values()].reduce((total, entry) => total + entry[field], 0);
    const decision = decidePermits(
      ask,
      books.map((book) => ({
        requests: sum(book, 'requests'),
        tokens: sum(book, 'tokens'),
        slots: [...book.slots.values()].reduce((total, { slots }) => total + slots, 0),
      })),
    );
    const subjects = decision.subjects.map(({ calls, granted, room, refused }, position) => {
      const book = books[position];
      const spare = granted.requests + granted.tokens > 0;
      const [requests, tokens] = [calls.requests + granted.requests, calls.tokens + granted.tokens];
      const atMs = nowMs + (spare ? permitMs : 0);
      if (requests + tokens > 0) book?.entries.set(`${ask.process}.${ask.turn}`, { atMs, requests, tokens });
      const held = book?.slots.get(ask.process);
      if (held) held.slots += calls.slots + granted.slots;
      return { granted, room, freed: refused ? freedOf(book?.entries.values() ?? [], nowMs) : null };
    });
    const answer = { epoch, lost: false, admitted: decision.admitted, subjects };
    this.#last.set(turns, { turn: ask.turn, answer });
    return answer;
  }

  /** Deletes everything, like FLUSHALL. */
  flush(): void {
    this.#books = new Map();
    this.#last = new Map();
    this.#epochs = new Map();
  }

  reconnect(): void {}
  async sweep(): Promise<void> {}
  async close(): Promise<void> {}
}
