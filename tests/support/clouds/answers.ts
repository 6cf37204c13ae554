import { chunkMessage, eventMessage } from '#tests/support/clouds/event-stream';

const usage = { input_tokens: 12, output_tokens: 5, cache_read_input_tokens: 4 };

/** A whole answer of Anthropic. */
export const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Grüße, 世界' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
};

/** The same as a stream. */
export const events: readonly object[] = [
  {
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmF0dXJl' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Grüße, ' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: '世界\n' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 5 },
  },
  { type: 'message_stop' },
];

const nameOf = (event: object) => String(Reflect.get(event, 'type'));
const sseOf = (event: object) => `event: ${nameOf(event)}\ndata: ${JSON.stringify(event)}\n\n`;

/** The stream as Anthropic and Vertex send it. */
export const sse = events.map(sseOf).join('');

const metrics = { inputTokenCount: 12, outputTokenCount: 5, invocationLatency: 900, firstByteLatency: 300 };

/** The stream as Bedrock sends it, by messages. */
export function bedrockMessages(ending: 'well' | 'cut' | 'exception' | 'damaged'): Buffer[] {
  const all = events.map((event) =>
    chunkMessage(
      nameOf(event) === 'message_stop' ? { ...event, 'amazon-bedrock-invocationMetrics': metrics } : event,
    ),
  );
  if (ending === 'well') return all;
  const begun = all.slice(0, 9);
  if (ending === 'cut') return [...begun, (all[9] ?? Buffer.alloc(0)).subarray(0, 40)];
  if (ending === 'exception') {
    const kind = { ':exception-type': 'throttlingException', ':message-type': 'exception' };
    return [...begun, eventMessage(kind, JSON.stringify({ message: 'Too many tokens, please wait.' }))];
  }
  const damaged = Buffer.from(all[9] ?? '');
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 1) ^ 1, damaged.length - 1);
  return [...begun, damaged, ...all.slice(10)];
}

export const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'gpt',
  choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

export const content = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
};
