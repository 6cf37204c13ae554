import { type BodyBudget, type BodyShare, FREE_BYTES } from '#lib/gateway/flow/body-budget';
import type { BodySource } from '#lib/gateway/flow/lane';
import { tooLarge } from '#lib/gateway/flow/upload/body-faults';

/** The body of a call that came as a message of a connection. */
export class FrameBody implements BodySource {
  readonly #budget: BodyBudget;
  #bytes: Uint8Array;
  #share: BodyShare | null = null;
  #kept: (() => void)[] = [];

  constructor(budget: BodyBudget, bytes: Uint8Array) {
    this.#budget = budget;
    this.#bytes = bytes;
  }

  large(): boolean {
    return this.#bytes.length > FREE_BYTES;
  }

  async read(limit: number, keyId: string): Promise<Uint8Array> {
    const { length } = this.#bytes;
    if (length > limit) throw tooLarge(limit);
    if (length > FREE_BYTES) {
      this.#share = this.#budget.open(keyId, length);
      await this.#share.grow(length);
      this.#share.received(length);
    }
    return this.#bytes;
  }

  async pour(limit: number, take: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    if (this.#bytes.length > limit) throw tooLarge(limit);
    await take(this.#bytes);
  }

  free(): void {
    this.#bytes = new Uint8Array();
    this.#share?.release();
    this.#share = null;
  }

  onRelease(listener: () => void): void {
    this.#kept.push(listener);
  }

  drop(): void {
    this.free();
  }

  /** The call is over. */
  release(): void {
    for (const letGo of this.#kept.splice(0)) letGo();
    this.free();
  }
}
