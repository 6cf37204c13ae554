import type { LanguageModelV4Message, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Conversation } from '#lib/core/translation/conversation';
import { readMark, type ThinkingMark } from '#lib/core/translation/thinking-mark';

const place = 'gateway';

/** Where a reader of requests puts the mark that came with a part: its `providerOptions`. */
export function carryMark(field: string): SharedV4ProviderOptions {
  return { [place]: { mark: field } };
}

/**
 * The conversation for a model of `maker`: thinking that this maker signed gets its signature back, unchanged; thinking of
 * other makers, or without a mark, is left out, because no provider accepts it (docs/decisions/translation.md). So is an
 * answer of which nothing is left.
 */
export function bindThinking(conversation: Conversation, maker: string): Conversation {
  const bound = conversation.prompt.map((message) => bindMessage(message, maker));
  return { ...conversation, prompt: bound.filter(({ content }) => content.length > 0) };
}

function bindMessage(message: LanguageModelV4Message, maker: string): LanguageModelV4Message {
  if (message.role !== 'assistant') return message;
  const content = message.content.flatMap((part) => {
    const mark = markOf(part.providerOptions);
    const ours = mark?.maker === maker ? mark : null;
    if (part.type === 'reasoning' && !ours) return [];
    if (!part.providerOptions || !(place in part.providerOptions)) return [part];
    const { [place]: _, ...others } = part.providerOptions;
    return [{ ...part, providerOptions: { ...others, ...ours?.metadata } }];
  });
  return { ...message, content };
}

function markOf(options: SharedV4ProviderOptions | undefined): ThinkingMark | null {
  return readMark(options?.[place]?.mark);
}
