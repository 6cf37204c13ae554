import type { LimitStore, PermitAnswer, PermitRequest } from '#lib/gateway/limits/pure/permit-request';

/** A store that fails on demand. */
export class FaultyStore implements LimitStore {
  readonly name = 'faulty';
  readonly patienceMs: number;
  /**
   * `hung`: accepts requests and never carries them out. `mute`: carries them out and loses the answer.
   * `refused`: fails.
   */
  state: 'on' | 'hung' | 'mute' | 'refused' = 'on';
  reconnects = 0;
  readonly #store: LimitStore;

  constructor(store: LimitStore, patienceMs = 50) {
    this.#store = store;
    this.patienceMs = patienceMs;
  }

  async carryOut(ask: PermitRequest): Promise<PermitAnswer> {
    if (this.state === 'refused') throw new Error('connect ECONNREFUSED');
    if (this.state === 'hung') return new Promise(() => undefined);
    const { state } = this;
    const answer = await this.#store.carryOut(ask);
    return state === 'mute' ? new Promise(() => undefined) : answer;
  }

  reconnect(): void {
    this.reconnects++;
  }

  async sweep(): Promise<void> {}
  async close(): Promise<void> {}
}
