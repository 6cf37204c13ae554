import type { JsonObject } from '#lib/core/families/reading/json';
import type { Blocks } from '#lib/core/translation/messages/message-parts';

export interface QueuedBlock {
  readonly start: JsonObject;
  ended: boolean;
  readonly splits: boolean;
  readonly waiting: JsonObject[];
}

/**
 * The blocks of a streamed message. The protocol has one open block at a time, the parts of an answer may alternate
 * between several: the first block is written as it comes, the others wait until it has ended.
 */
export class BlockQueue implements Blocks<QueuedBlock> {
  #index = 0;
  #isOpen = false;
  readonly #queue: QueuedBlock[] = [];
  #out = '';

  add(start: JsonObject, splits = false): QueuedBlock {
    const block = { start, ended: false, splits, waiting: [] };
    this.#queue.push(block);
    this.#advance();
    return block;
  }

  append(block: QueuedBlock, delta: JsonObject): boolean {
    if (!this.#queue.includes(block)) return false;
    block.waiting.push(delta);
    this.#advance();
    return true;
  }

  end(block: QueuedBlock): void {
    block.ended = true;
    this.#advance();
  }

  endAll(): void {
    for (const block of this.#queue) block.ended = true;
    this.#advance();
  }

  /** The events since the last call. */
  take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #advance(): void {
    for (let first = this.#queue[0]; first; first = this.#queue[0]) {
      if (!this.#isOpen) this.#emit('content_block_start', { content_block: first.start });
      this.#isOpen = true;
      for (const delta of first.waiting.splice(0)) this.#emit('content_block_delta', { delta });
      if (!first.ended && !(first.splits && this.#queue.length > 1)) return;
      this.#emit('content_block_stop', {});
      this.#isOpen = false;
      this.#index++;
      this.#queue.shift();
    }
  }

  #emit(type: string, fields: JsonObject): void {
    this.#out += eventOf(type, { index: this.#index, ...fields });
  }
}

export function eventOf(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
