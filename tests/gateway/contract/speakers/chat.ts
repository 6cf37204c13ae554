import { bytesOf, type Speaker, usualRates } from '#tests/gateway/contract/speaker';
import { fairNano } from '#tests/support/books';
import { record } from '#tools/sandbox/content/tool-call';

const base = {
  family: 'chat',
  operation: 'chat.create',
  piece: '"content"',
  credential: 'authorization',
  model: 'sandbox/echo',
  drained: 'test/drained',
  rates: usualRates,
  target: () => '/v1/chat/completions',
  upstreamTarget: '/chat/completions',
  fair: fairNano,
  written: ({ choices }) => {
    const [choice] = [choices].flat();
    const { message, delta } = record(choice);
    return bytesOf([record(message ?? delta).content]);
  },
  broken: { usageSource: 'estimated', tellsInput: 'nothing' },
  frame: { start: 'data: {"error"', keys: ['error'] },
} satisfies Partial<Speaker>;

const body = (model: string, prompt: string, more: object = {}) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: prompt }], ...more });
const renamed = (text: string, model: string) => text.replace(`"${model}"`, '"echo"');

/** The stream with its usage asked for by the gateway, and by the client itself. */
export const chatSpeakers: readonly Speaker[] = [
  { ...base, name: 'chat', streamed: false, body, received: renamed },
  {
    ...base,
    name: 'chat, streamed',
    streamed: true,
    framing: 'events',
    body: (model, prompt) => body(model, prompt, { stream: true }),
    received: (text, model) =>
      renamed(text, model).replace(/}$/, ',"stream_options":{"include_usage":true}}'),
    relayed: withoutUsageEvent,
  },
  {
    ...base,
    name: 'chat, streamed with its usage',
    streamed: true,
    framing: 'events',
    body: (model, prompt) => body(model, prompt, { stream: true, stream_options: { include_usage: true } }),
    received: renamed,
  },
];

/** Takes out the events with usage and without choices (contract: body/include-usage). */
function withoutUsageEvent(sent: string): string {
  const newline = /\r\n\r\n|\r\r|\n\n/.exec(sent)?.[0] ?? '\n\n';
  const events = sent.split(newline);
  const kept = events.filter((event) => {
    const data = event.split(/\r\n|\r|\n/).find((line) => line.startsWith('data: {'));
    const { choices, usage } = data ? parsed(data.slice(6)) : {};
    return !(Array.isArray(choices) && choices.length === 0 && usage);
  });
  return kept.join(newline);
}

function parsed(text: string): Record<string, unknown> {
  try {
    return record(JSON.parse(text));
  } catch {
    return {};
  }
}
