import { type Choice, compose } from '#tools/sandbox/chat/compose';
import { PrefixCache } from '#tools/sandbox/content/prefix-cache';
import type { Truth } from '#tools/sandbox/dialect';
import type { MessagesAsk } from '#tools/sandbox/messages/ask';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';

/** Input tokens that a search's results add, reported only at the end of a stream. */
const searchTokens = 1_000;

/** One pass of another model, listed next to the totals. */
export interface Pass {
  readonly type: 'message' | 'advisor_message' | 'fallback_message';
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** An answer, to be sent whole or in events. */
export interface Message {
  readonly choice: Choice;
  readonly stopReason: string;
  readonly truth: Truth;
  /** Whether cache writes are kept for an hour instead of five minutes. */
  readonly hour: boolean;
  readonly fast: boolean;
  readonly searches: number;
  /** Input that was not known when the stream began. */
  readonly lateInput: number;
  readonly passes: readonly Pass[];
}

/**
 * Decides the answer of a request.
 * @param cache null: nothing is looked up or stored, for a count.
 * @throws ProviderFault 404 for an unknown model, 400 if budget or context do not fit it.
 */
export function composeMessage(
  ask: MessagesAsk,
  base: string,
  behaviour: Behaviour,
  cache: PrefixCache | null,
): Message {
  const { choices, truth } = compose(ask, base, behaviour, new PrefixCache());
  const [choice] = choices;
  if (!choice) throw new Error('a message has one choice');
  const lateInput = ask.searches ? searchTokens : 0;
  const read = cache?.read(ask.cachedPrefix, `messages/${ask.model}`) ?? { cached: 0, written: 0 };
  const cachedTokens = Math.min(read.cached, ask.inputTokens);
  const answer = {
    ...truth,
    inputTokens: ask.inputTokens + lateInput,
    cachedTokens,
    cacheWriteTokens: Math.min(read.written, ask.inputTokens - cachedTokens),
    serviceTier: behaviour.tier ?? 'standard',
  };
  return {
    choice,
    stopReason: stopReason(choice, ask),
    truth: answer,
    hour: ask.ttl === '1h',
    fast: ask.fast,
    searches: ask.searches ? 1 : 0,
    lateInput,
    passes: passesOf(ask, answer),
  };
}

function stopReason({ finish, tool }: Choice, ask: MessagesAsk): string {
  if (finish === 'length') return 'max_tokens';
  if (tool) return 'tool_use';
  return ask.stops.some((stop) => ask.prompt.includes(stop)) ? 'stop_sequence' : 'end_turn';
}

function passesOf(
  ask: MessagesAsk,
  { inputTokens, cachedTokens, cacheWriteTokens, outputTokens }: Truth,
): Pass[] {
  const served = { inputTokens: inputTokens - cachedTokens - cacheWriteTokens, outputTokens };
  if (ask.fallback !== null && ask.prompt.includes('DECLINE')) {
    return [
      { type: 'message', model: ask.model, inputTokens: ask.inputTokens, outputTokens: 0 },
      { type: 'fallback_message', model: ask.fallback, ...served },
    ];
  }
  if (ask.advisor === null) return [];
  return [
    { type: 'message', model: ask.model, ...served },
    { type: 'advisor_message', model: ask.advisor, inputTokens: ask.inputTokens + 50, outputTokens: 40 },
  ];
}
