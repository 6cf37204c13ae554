import { compose } from '#tools/sandbox/chat/compose';
import { PrefixCache } from '#tools/sandbox/content/prefix-cache';
import { type Answer, type Dialect, plainFrame } from '#tools/sandbox/dialect';
import {
  type ContentAsk,
  contentTokens,
  methodPath,
  readContentAsk,
} from '#tools/sandbox/generate-content/ask';
import { isOfCaches, openCaches } from '#tools/sandbox/generate-content/caches';
import { isOfContentFiles, openContentFiles } from '#tools/sandbox/generate-content/files';
import { blockedFrame, contentFrames, wholeCandidates } from '#tools/sandbox/generate-content/frames';
import { isOfOperations, openOperations } from '#tools/sandbox/generate-content/operations';
import { contentUsage, modalities } from '#tools/sandbox/generate-content/usage';
import type { Behaviour } from '#tools/sandbox/scenario/behaviour';

/** `error.status` by HTTP status. */
const words: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** The generate-content family as generativelanguage.googleapis.com speaks it. */
export const generateContent: Dialect = {
  id: 'generate-content',
  keyHeader: 'x-goog-api-key',
  newline: '\r\n',
  invalidKeyBody: errorText(400, 'API key not valid. Please pass a valid API key.', [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
    },
  ]),

  handles: (method, path, headers) =>
    isOfOperations(method, path) ||
    isOfContentFiles(method, path, headers) ||
    isOfCaches(method, path) ||
    (method === 'POST' && methodPath.test(path)),

  open(seen, cache, memory) {
    if (isOfOperations(seen.method, seen.path)) return openOperations(seen, memory);
    if (isOfContentFiles(seen.method, seen.path, seen.headers)) return openContentFiles(seen, memory);
    if (isOfCaches(seen.method, seen.path)) {
      return openCaches(seen, memory, (body) => contentTokens(body, memory));
    }
    const ask = readContentAsk(seen, memory);
    const head = { modelVersion: ask.chat.model, responseId: seen.id.slice(4, 27) };
    return {
      model: ask.chat.model,
      stream: ask.chat.stream,
      prompt: ask.chat.prompt,
      answer: (base, behaviour) => answerOf(ask, head, { base, behaviour, cache }),
    };
  },

  errorBody: ({ status, message }) => errorText(status, message),

  errorEvent: ({ status, message }) =>
    plainFrame(null, { error: { code: status, message, status: statusWord(status) } }),
};

function answerOf(
  ask: ContentAsk,
  head: object,
  {
    base,
    behaviour,
    cache,
  }: { readonly base: string; readonly behaviour: Behaviour; readonly cache: PrefixCache },
): Answer {
  const composed = compose(ask.chat, base, behaviour, ask.counts ? new PrefixCache() : cache);
  const truth = {
    ...composed.truth,
    inputTokens: ask.chat.inputTokens + ask.toolTokens,
    cachedTokens: Math.max(composed.truth.cachedTokens, ask.cachedTokens),
    cacheWriteTokens: 0,
    serviceTier: behaviour.tier ?? ask.chat.serviceTier ?? 'standard',
    ...(ask.counts || ask.blocked ? { outputTokens: 0, reasoningTokens: 0 } : {}),
  };
  if (ask.counts) {
    const counted = { totalTokens: ask.chat.inputTokens, promptTokensDetails: modalities(ask) };
    const free = { ...truth, inputTokens: 0, cachedTokens: 0 };
    return { truth: free, content: { kind: 'whole', text: pretty(counted), usage: null } };
  }
  if (ask.chat.stream) {
    const shape = { head, indent: ask.sse ? 0 : 2 };
    const frames = ask.blocked
      ? [blockedFrame(shape, ask, truth, behaviour)]
      : contentFrames(shape, ask, { choices: composed.choices, truth }, behaviour);
    return { truth, content: { kind: 'stream', frames, ...(ask.sse ? {} : { framing: 'array' }) } };
  }
  const usage = contentUsage(ask, truth, behaviour.usage);
  const body = {
    ...(ask.blocked
      ? { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }
      : { candidates: wholeCandidates(ask, composed.choices) }),
    ...(usage === undefined ? {} : { usageMetadata: usage }),
    ...head,
  };
  return { truth, content: { kind: 'whole', text: pretty(body), usage } };
}

function pretty(body: object): string {
  return `${JSON.stringify(body, null, 2)}\n`;
}

function errorText(code: number, message: string, details?: readonly object[]): string {
  const error = { code, message, status: statusWord(code), ...(details ? { details } : {}) };
  return pretty({ error });
}

function statusWord(status: number): string {
  return words[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT');
}
