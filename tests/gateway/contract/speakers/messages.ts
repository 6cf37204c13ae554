import { bytesOf, type Speaker, usualRates } from '#tests/gateway/contract/speaker';
import { brokenMessagesNano, fairMessagesNano } from '#tests/gateway/messages/call';
import { record } from '#tools/sandbox/content/tool-call';

const base = {
  family: 'messages',
  operation: 'messages.create',
  piece: 'text_delta',
  credential: 'x-api-key',
  headers: { 'anthropic-version': '2023-06-01' },
  model: 'sandbox/echo',
  drained: 'test/drained-messages',
  rates: usualRates,
  target: () => '/v1/messages',
  upstreamTarget: '/messages',
  received: (text: string, model: string) => text.replace(`"${model}"`, '"echo"'),
  fair: fairMessagesNano,
  written: ({ content, delta }) =>
    bytesOf(delta ? [record(delta).text] : [content ?? []].flat().map((block) => record(block).text)),
  // Its start tells the input, its end the output.
  broken: {
    usageSource: 'estimated',
    tellsInput: 'all',
    nano: brokenMessagesNano,
  },
  frame: { start: 'event: error\n', keys: ['type', 'error'] },
} satisfies Partial<Speaker>;

const body = (model: string, prompt: string, more: object = {}) =>
  JSON.stringify({ model, max_tokens: 1_024, messages: [{ role: 'user', content: prompt }], ...more });

export const messagesSpeakers: readonly Speaker[] = [
  { ...base, name: 'messages', streamed: false, body },
  {
    ...base,
    name: 'messages, streamed',
    streamed: true,
    framing: 'events',
    body: (model, prompt) => body(model, prompt, { stream: true }),
  },
];
