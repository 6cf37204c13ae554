import { bytesOf, type Speaker, usualRates } from '#tests/gateway/contract/speaker';
import { fairResponseNano } from '#tests/gateway/responses/call';
import { record } from '#tools/sandbox/content/tool-call';

const base = {
  family: 'responses',
  operation: 'responses.create',
  piece: 'event: response.output_text.delta',
  credential: 'authorization',
  model: 'sandbox/echo',
  drained: 'test/responses-drained',
  rates: usualRates,
  target: () => '/v1/responses',
  upstreamTarget: '/responses',
  received: (text: string, model: string) => text.replace(`"${model}"`, '"echo"'),
  fair: fairResponseNano,
  written: ({ output, delta }) =>
    bytesOf(
      output === undefined
        ? [delta]
        : [output]
            .flat()
            .flatMap((item) => [record(item).content ?? []].flat().map((part) => record(part).text)),
    ),
  // Its usage stands in its last event alone.
  broken: { usageSource: 'estimated', tellsInput: 'nothing' },
  frame: {
    start: 'event: response.failed\n',
    keys: ['type', 'sequence_number', 'response'],
    last: ['type', 'sequence_number', 'code', 'message', 'param', 'error'],
  },
} satisfies Partial<Speaker>;

const body = (model: string, prompt: string, more: object = {}) =>
  JSON.stringify({ model, input: prompt, ...more });

export const responsesSpeakers: readonly Speaker[] = [
  { ...base, name: 'responses', streamed: false, body },
  {
    ...base,
    name: 'responses, streamed',
    streamed: true,
    framing: 'events',
    body: (model, prompt) => body(model, prompt, { stream: true }),
  },
];
