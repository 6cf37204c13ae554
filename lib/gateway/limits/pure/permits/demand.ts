/** Below this many calls a second permits are not asked for in advance: each call asks for itself. */
const BUSY = 4;
/** For how long permits are asked in advance, seconds; half of their life, so that most are used. */
const AHEAD = 0.4;

/** How much a key or workspace is used in this process: counts by the second, monotonic ms. */
export class Demand {
  #second = 0;
  #calls = 0;
  #tokens = 0;
  #callsBefore = 0;
  #tokensBefore = 0;

  note(tokens: number, nowMono: number): void {
    this.#turn(nowMono);
    this.#calls++;
    this.#tokens += tokens;
  }

  /** What is worth asking for in advance, whole; 0 while it is quiet. */
  ahead(nowMono: number): { readonly requests: number; readonly tokens: number } {
    this.#turn(nowMono);
    // A sliding rate: the second before counts by the part of this one that has not passed.
    const part = 1 - ((nowMono / 1000) % 1);
    const calls = this.#calls + this.#callsBefore * part;
    if (calls < BUSY) return quiet;
    const tokens = this.#tokens + this.#tokensBefore * part;
    return { requests: Math.ceil(calls * AHEAD), tokens: Math.ceil(tokens * AHEAD) };
  }

  #turn(nowMono: number): void {
    const second = Math.floor(nowMono / 1000);
    if (second === this.#second) return;
    const next = second === this.#second + 1;
    this.#callsBefore = next ? this.#calls : 0;
    this.#tokensBefore = next ? this.#tokens : 0;
    this.#second = second;
    this.#calls = 0;
    this.#tokens = 0;
  }
}

const quiet = { requests: 0, tokens: 0 };
