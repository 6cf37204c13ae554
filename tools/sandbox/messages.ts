import { type Answer, type Dialect, plainFrame, whole } from '#tools/sandbox/dialect';
import { type MessagesAsk, readMessagesAsk } from '#tools/sandbox/messages/ask';
import { isOfMessageBatches, openMessageBatches } from '#tools/sandbox/messages/batches';
import { composeMessage, type Message } from '#tools/sandbox/messages/compose';
import { isOfMessageFiles, openMessageFiles } from '#tools/sandbox/messages/files';
import { blocksOf, messageFrames } from '#tools/sandbox/messages/frames';
import { errorType, messageUsage } from '#tools/sandbox/messages/usage';
import { getModel } from '#tools/sandbox/models';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';
import { parseName } from '#tools/sandbox/scenario/name';
import type { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

const countPath = '/messages/count_tokens';

/** The messages family as api.anthropic.com speaks it. */
export const messages: Dialect = {
  id: 'messages',
  keyHeader: 'x-api-key',

  handles: (method, path, headers) =>
    (method === 'POST' && (path === '/messages' || path === countPath)) ||
    isOfMessageBatches(method, path) ||
    isOfMessageFiles(method, path, headers),

  open(seen, cache, memory) {
    if (isOfMessageBatches(seen.method, seen.path)) return openMessageBatches(messages, seen, memory);
    if (isOfMessageFiles(seen.method, seen.path, seen.headers)) return openMessageFiles(seen, memory);
    const counts = seen.path === countPath;
    const ask = readMessagesAsk(seen, counts);
    const nested = [ask.advisor, ask.fallback];
    for (const model of nested) if (model !== null) getModel(parseName(model).base);
    return {
      model: ask.model,
      stream: ask.stream,
      prompt: ask.prompt,
      answer(base, behaviour) {
        const message = composeMessage(ask, base, behaviour, counts ? null : cache);
        if (counts) return counted(message);
        const head = {
          id: `msg_01${seen.id.slice(4, 28)}`,
          type: 'message',
          role: 'assistant',
          model: ask.model,
        };
        return ask.stream
          ? {
              truth: message.truth,
              content: { kind: 'stream', frames: messageFrames(head, message, behaviour) },
            }
          : wholeAnswer(head, ask, message, behaviour);
      },
    };
  },

  errorBody: (fault) => JSON.stringify({ ...errorObject(fault), request_id: 'req_011sandbox' }),

  errorEvent: (fault) => plainFrame('error', errorObject(fault)),
};

function errorObject({ status, message }: ProviderFault): object {
  return { type: 'error', error: { type: errorType(status), message } };
}

/** Counting generates nothing, so it is free. */
function counted({ truth }: Message): Answer {
  const free = { ...truth, inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
  return whole({ input_tokens: truth.inputTokens }, null, free);
}

function wholeAnswer(head: object, ask: MessagesAsk, message: Message, behaviour: Behaviour): Answer {
  const usage = messageUsage(message, behaviour.usage, 'whole');
  const body = {
    ...head,
    content: blocksOf(message),
    stop_reason: message.stopReason,
    stop_sequence: message.stopReason === 'stop_sequence' ? (ask.stops[0] ?? null) : null,
    ...(usage === undefined ? {} : { usage }),
  };
  return whole(body, usage, message.truth);
}
