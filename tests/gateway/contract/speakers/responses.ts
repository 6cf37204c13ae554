import { record } from '#lib/sandbox/content/tool-call';
import type { Speaker } from '#tests/gateway/contract/speaker';
import { fairResponseNano } from '#tests/gateway/responses/call';
import { estimatedNano } from '#tests/support/books';

const base = {
  family: 'responses',
  operation: 'responses.create',
  piece: 'event: response.output_text.delta',
  credential: 'authorization',
  drained: 'test/responses-drained',
  target: () => '/v1/responses',
  upstreamTarget: '/responses',
  received: (text: string, model: string) => text.replace(`"${model}"`, '"echo"'),
  fair: fairResponseNano,
  texts: ({ output, delta }) =>
    output === undefined
      ? [delta]
      : [output]
          .flat()
          .flatMap((item) => [record(item).content ?? []].flat().map((part) => record(part).text)),
  // Its usage stands in its last event alone.
  broken: {
    usageSource: 'estimated',
    tellsInput: false,
    nano: (_end, request, output) => estimatedNano(request, output),
  },
  frame: { start: 'event: error\n', keys: ['type', 'sequence_number', 'error'] },
} satisfies Partial<Speaker>;

const body = (model: string, prompt: string, more: object = {}) =>
  JSON.stringify({ model, input: prompt, ...more });

export const responsesSpeakers: readonly Speaker[] = [
  { ...base, name: 'responses', streamed: false, held: true, body },
  {
    ...base,
    name: 'responses, streamed',
    streamed: true,
    framing: 'events',
    body: (model, prompt) => body(model, prompt, { stream: true }),
  },
];
