import { fairContentNano } from '#tests/gateway/content/call';
import { bytesOf, type Speaker, usualRates } from '#tests/gateway/contract/speaker';
import { record } from '#tools/sandbox/content/tool-call';

const list = (value: unknown) => [value ?? []].flat().map(record);

const base = {
  family: 'generate-content',
  piece: '"text"',
  credential: 'x-goog-api-key',
  model: 'sandbox/echo',
  drained: 'test/content-drained',
  rates: usualRates,
  body: (_model: string, prompt: string) =>
    JSON.stringify({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
  // The model stands in the path alone.
  received: (text: string) => text,
  fair: fairContentNano,
  written: ({ candidates }) =>
    bytesOf(list(candidates).flatMap(({ content }) => list(record(content).parts).map(({ text }) => text))),
  // Every piece tells the usage so far.
  broken: { usageSource: 'reported', tellsInput: 'all', nano: fairContentNano },
  // Its clients break on anything that is not the provider's.
  frame: null,
} satisfies Partial<Speaker>;

const stream = { operation: 'content.stream', streamed: true } as const;

export const contentSpeakers: readonly Speaker[] = [
  {
    ...base,
    name: 'generate-content',
    operation: 'content.generate',
    streamed: false,
    target: (model) => `/v1beta/models/${model}:generateContent`,
    upstreamTarget: '/models/echo:generateContent',
  },
  {
    ...base,
    ...stream,
    name: 'generate-content, streamed as SSE',
    framing: 'events',
    target: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    upstreamTarget: '/models/echo:streamGenerateContent?alt=sse',
  },
  {
    ...base,
    ...stream,
    name: 'generate-content, streamed as an array',
    framing: 'array',
    target: (model) => `/v1/models/${model}:streamGenerateContent`,
    upstreamTarget: '/models/echo:streamGenerateContent',
  },
];
