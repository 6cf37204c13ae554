import { type BodyBudget, FREE_BYTES } from '#lib/gateway/flow/body-budget';
import type { BodySource } from '#lib/gateway/flow/lane';
import { BodyMemory } from '#lib/gateway/flow/upload/body-memory';
import { type Coding, Decoder, readCoding, windowBytes } from '#lib/gateway/flow/upload/decoder';
import { type BodyPace, Pacer } from '#lib/gateway/flow/upload/pace';

/**
 * The body of a request as its reader sees it: decoded if it is compressed (contract: body/compressed). Both lanes
 * wrap theirs with it.
 * @param header the Content-Encoding. A coding that is not read leaves the body as it is; `readBody` refuses it.
 */
export function decodedBody(
  body: BodySource,
  header: string | undefined,
  budget: BodyBudget,
  pace: BodyPace,
): BodySource {
  const coding = readCoding(header);
  return typeof coding === 'string' ? new CodedBody(body, coding, budget, pace) : body;
}

class CodedBody implements BodySource {
  readonly #body: BodySource;
  readonly #coding: Coding;
  readonly #budget: BodyBudget;
  readonly #pace: BodyPace;
  #memory: BodyMemory | null = null;

  constructor(body: BodySource, coding: Coding, budget: BodyBudget, pace: BodyPace) {
    this.#body = body;
    this.#coding = coding;
    this.#budget = budget;
    this.#pace = pace;
  }

  /** A few kilobytes may decode to all that is allowed (contract: body/large-first). */
  large(): boolean {
    return true;
  }

  async read(limit: number, keyId: string): Promise<Uint8Array> {
    const memory = new BodyMemory(this.#budget, keyId, limit, windowBytes[this.#coding]);
    this.#memory = memory;
    this.#body.onRelease(() => memory.release());
    await this.#decode(limit, (piece) => memory.add(piece), keyId);
    return memory.whole();
  }

  /** What is poured goes to disk: only the decoder's window takes memory, all of it reserved in advance. */
  async pour(limit: number, take: (chunk: Uint8Array) => Promise<void>, keyId: string): Promise<void> {
    const bytes = windowBytes[this.#coding];
    const share = this.#budget.open(keyId, bytes);
    try {
      if (bytes > FREE_BYTES) await share.grow(bytes);
      await this.#decode(limit, take, keyId);
    } finally {
      share.release();
    }
  }

  free(): void {
    this.#memory?.release();
    this.#memory = null;
  }

  onRelease(listener: () => void): void {
    this.#body.onRelease(listener);
  }

  drop(): void {
    this.#body.drop();
  }

  async #decode(
    limit: number,
    take: (piece: Uint8Array) => Promise<void> | null,
    keyId: string,
  ): Promise<void> {
    const decoder = new Decoder(this.#coding, limit, take);
    const pacer = new Pacer(this.#pace, performance.now());
    try {
      await this.#body.pour(
        limit,
        async (chunk) => {
          const refused = pacer.check(performance.now());
          if (refused) throw refused;
          pacer.pause(performance.now());
          const before = decoder.bytes;
          await decoder.push(chunk);
          // A few compressed bytes must not occupy memory for longer than the same body would uncompressed.
          if (decoder.bytes > FREE_BYTES) pacer.hurry(performance.now());
          pacer.came(decoder.bytes - before, performance.now());
          pacer.resume(performance.now());
        },
        keyId,
      );
      await decoder.end();
    } finally {
      decoder.close();
    }
  }
}
