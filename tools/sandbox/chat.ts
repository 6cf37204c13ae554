import { type ChatAsk, readChatAsk } from '#tools/sandbox/chat/ask';
import { type Choice, type Composition, compose } from '#tools/sandbox/chat/compose';
import { type ChunkHead, chatFrames } from '#tools/sandbox/chat/frames';
import { spokenName, spokenSound } from '#tools/sandbox/chat/spoken';
import { handlesStoredChat, keepCompletion, openStoredChat } from '#tools/sandbox/chat/stored';
import { chatUsage } from '#tools/sandbox/chat/usage';
import { type Answer, type Dialect, plainFrame, whole } from '#tools/sandbox/dialect';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';
import { errorObject, type ProviderFault } from '#tools/sandbox/scenario/provider-fault';

/** The chat family as api.openai.com speaks it. */
export const chat: Dialect = {
  id: 'chat',

  handles: (method, path) =>
    (method === 'POST' && path === '/chat/completions') || handlesStoredChat(method, path),

  open(seen, cache, memory) {
    if (seen.method !== 'POST' || seen.path !== '/chat/completions') return openStoredChat(seen, memory);
    const ask = readChatAsk(seen.body);
    return {
      model: ask.model,
      stream: ask.stream,
      prompt: ask.prompt,
      answer(base, behaviour) {
        const composition = compose(ask, base, behaviour, cache);
        const head = {
          id: `chatcmpl-${seen.id.slice(4)}`,
          object: ask.stream ? 'chat.completion.chunk' : 'chat.completion',
          created: Math.floor(seen.atMs / 1000),
          model: ask.model,
          service_tier: composition.truth.serviceTier,
          system_fingerprint: 'fp_sandbox',
        };
        // An endless answer cannot be stored.
        if (Number.isFinite(composition.truth.outputTokens)) {
          const completion = () => wholeBody(head, ask, composition, behaviour).body;
          keepCompletion(memory, seen, ask.prompt, completion);
        }
        if (!ask.stream) return wholeAnswer(head, ask, composition, behaviour);
        const frames = chatFrames(head, ask, composition, behaviour);
        return { truth: composition.truth, content: { kind: 'stream', frames } };
      },
    };
  },

  errorBody: (fault) => JSON.stringify({ error: chatError(fault) }),

  errorEvent: (fault) => plainFrame(null, { error: chatError(fault) }),
};

/** The error object, which responses share. */
export function chatError(fault: ProviderFault): object {
  return errorObject(fault, fault.status === 429 ? 'requests' : 'invalid_request_error');
}

function wholeAnswer(head: ChunkHead, ask: ChatAsk, composition: Composition, behaviour: Behaviour): Answer {
  const { body, reported } = wholeBody(head, ask, composition, behaviour);
  return whole(body, reported, composition.truth);
}

function wholeBody(head: ChunkHead, ask: ChatAsk, composition: Composition, behaviour: Behaviour) {
  const reported = chatUsage(ask, composition.truth, behaviour.usage);
  const groq = behaviour.usagePlace === 'x-groq' ? { x_groq: { id: head.id, usage: reported } } : {};
  const body = {
    ...head,
    choices: composition.choices.map((choice, index) => wholeChoice(head, choice, index)),
    ...(reported === undefined || 'x_groq' in groq ? groq : { usage: reported }),
    ...(behaviour.extra === 'moderation' ? { moderation: { flagged: false } } : {}),
  };
  return { body, reported };
}

function wholeChoice(head: ChunkHead, choice: Choice, index: number): object {
  const text = [...choice.pieces].join('');
  const called = choice.tool && {
    tool_calls: [
      { id: choice.tool.id, type: 'function', function: { name: choice.tool.name, arguments: text } },
    ],
  };
  const spoken = choice.spoken && {
    audio: {
      ...spokenName(head, index),
      data: spokenSound(text),
      transcript: text,
      expires_at: Number(head.created) + 86_400,
    },
  };
  return {
    index,
    message: {
      role: 'assistant',
      content: choice.tool || choice.spoken ? null : text,
      ...called,
      ...spoken,
      refusal: null,
      annotations: [],
    },
    logprobs: null,
    finish_reason: choice.finish,
  };
}
