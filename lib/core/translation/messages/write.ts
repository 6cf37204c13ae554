import { messages } from '#lib/core/families/messages';
import type { JsonObject } from '#lib/core/families/reading/json';
import { BROKEN, breakReason, partsOf } from '#lib/core/translation/answer-parts';
import type { AnswerFacts, AnswerPart, StreamWriter, WholeAnswer } from '#lib/core/translation/conversation';
import { messageHead, startOnlyUsage, stopFields, usageFields } from '#lib/core/translation/messages/answer';
import { BlockList } from '#lib/core/translation/messages/block-list';
import { BlockQueue, eventOf, type QueuedBlock } from '#lib/core/translation/messages/block-queue';
import { MessageParts } from '#lib/core/translation/messages/message-parts';
import { readProviderError } from '#lib/core/translation/provider-error';

export function createWriter(facts: AnswerFacts): StreamWriter {
  return new MessagesWriter(facts);
}

/** A message that is not streamed. */
export function writeWhole(answer: WholeAnswer, facts: AnswerFacts): JsonObject {
  const blocks = new BlockList();
  const message = new MessageParts(facts, blocks);
  for (const part of partsOf(answer)) message.read(part);
  message.finish();
  return {
    ...messageHead(facts),
    content: blocks.content(),
    ...stopFields(answer.finishReason, message.called),
    usage: { ...usageFields(answer.usage, message.searches), ...startOnlyUsage },
  };
}

class MessagesWriter implements StreamWriter {
  readonly #facts: AnswerFacts;
  readonly #blocks = new BlockQueue();
  readonly #message: MessageParts<QueuedBlock>;
  #started = false;
  #ended = false;

  constructor(facts: AnswerFacts) {
    this.#facts = facts;
    this.#message = new MessageParts(facts, this.#blocks);
  }

  write(part: AnswerPart): string {
    if (this.#ended) return '';
    if (part.type === 'ping') return messages.signOfLife ?? '';
    // The package is ready: the provider has not said anything yet.
    if (part.type === 'stream-start' || part.type === 'raw') return '';
    if (part.type === 'error') return this.#error(part.error);
    const start = this.#started ? '' : this.#start();
    if (part.type === 'finish') return start + this.#finish(part);
    this.#message.read(part);
    return start + this.#blocks.take();
  }

  breakOff(message: string): string {
    if (this.#ended) return '';
    this.#ended = true;
    return messages.breakFrame({ message, code: BROKEN }, 0, undefined) ?? '';
  }

  #error(error: unknown): string {
    this.#ended = true;
    const { message, status } = readProviderError(error);
    return eventOf('error', { error: { type: errorTypes.get(status) ?? 'api_error', message } });
  }

  #start(): string {
    this.#started = true;
    const usage = usageFields({
      inputTokens: { total: this.#facts.inputTokens ?? 0, noCache: undefined, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 0, text: undefined, reasoning: undefined },
    });
    return eventOf('message_start', {
      message: {
        ...messageHead(this.#facts),
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        usage: { ...usage, ...startOnlyUsage },
      },
    });
  }

  #finish({ finishReason, usage }: Extract<AnswerPart, { type: 'finish' }>): string {
    const broken = breakReason(finishReason);
    if (broken !== null) return this.breakOff(broken);
    this.#ended = true;
    this.#message.finish();
    this.#blocks.endAll();
    return (
      this.#blocks.take() +
      eventOf('message_delta', {
        delta: { container: null, ...stopFields(finishReason, this.#message.called) },
        usage: usageFields(usage, this.#message.searches),
      }) +
      eventOf('message_stop', {})
    );
  }
}

const errorTypes: ReadonlyMap<number | null, string> = new Map([
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [529, 'overloaded_error'],
]);
