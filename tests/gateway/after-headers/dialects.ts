import type { Speaker } from '#tests/gateway/contract/speaker';

/** One piece of a stream before it is framed: an event, or an element of an array. */
export interface Piece {
  readonly name?: string;
  readonly data: unknown;
}

/** How a family says the same few things. */
export interface Dialect {
  /** Announces an answer and says nothing of it. */
  readonly opening: readonly Piece[];
  /** Says `text`. */
  readonly says: (text: string) => Piece;
  /** The family's own end, with the usage. @param id of what the answer shows. */
  readonly end: (text: string, id: string) => readonly Piece[];
  /** The whole answer. */
  readonly whole: (text: string, id: string) => object;
  /** The provider's own trouble, as an event. */
  readonly trouble: Piece;
  /** The same as a whole body. */
  readonly troubleBody: object;
  /** The request is at fault, as an event. */
  readonly complaint: Piece;
}

/** What every answer of these reports: 10 tokens in, 5 out, at the usual rates. */
export const reportedNano = 10n * 1_000n + 5n * 4_000n;

const choice = (part: object) => ({
  data: { id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, ...part }] },
});
const chatUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const overloaded = { message: 'The server is overloaded.', type: 'server_error', code: 'server_error' };
const tooLong = {
  message: "This model's maximum context length is 10 tokens.",
  type: 'invalid_request_error',
  code: 'context_length_exceeded',
};

const chat: Dialect = {
  opening: [choice({ delta: { role: 'assistant', content: '' }, finish_reason: null })],
  says: (content) => choice({ delta: { content }, finish_reason: null }),
  end: () => [
    choice({ delta: {}, finish_reason: 'stop' }),
    { data: { id: 'c1', object: 'chat.completion.chunk', choices: [], usage: chatUsage } },
    { data: '[DONE]' },
  ],
  whole: (content) => ({
    id: 'c1',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: chatUsage,
  }),
  trouble: { data: { error: overloaded } },
  troubleBody: { error: overloaded },
  complaint: { data: { error: tooLong } },
};

const event = (type: string, fields: object): Piece => ({ name: type, data: { type, ...fields } });
const response = (id: string, status: string, output: readonly object[], more: object = {}) => ({
  id,
  object: 'response',
  status,
  output,
  ...more,
});
const item = (text: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const responsesUsage = { usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } };

/** Its event has the members of the error beside its own type. */
const flat = ({ code, message }: typeof overloaded) => ({ code, message });

const responses: Dialect = {
  opening: [
    event('response.created', { sequence_number: 0, response: response('resp_begun', 'in_progress', []) }),
    event('response.in_progress', {
      sequence_number: 1,
      response: response('resp_begun', 'in_progress', []),
    }),
  ],
  says: (delta) =>
    event('response.output_text.delta', {
      sequence_number: 2,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta,
    }),
  end: (text, id) => [
    event('response.completed', {
      sequence_number: 3,
      response: response(`resp_${id}`, 'completed', [item(text)], responsesUsage),
    }),
  ],
  whole: (text, id) => response(`resp_${id}`, 'completed', [item(text)], responsesUsage),
  trouble: event('error', { sequence_number: 2, ...flat(overloaded), param: null }),
  troubleBody: { error: overloaded },
  complaint: event('error', { sequence_number: 2, ...flat(tooLong), param: 'input' }),
};

const message = (fields: object) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  ...fields,
});
const busy = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

const messages: Dialect = {
  opening: [
    event('message_start', {
      message: message({
        content: [],
        stop_reason: null,
        usage: { input_tokens: 10, output_tokens: 1 },
      }),
    }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('ping', {}),
  ],
  says: (text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  end: () => [
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
    event('message_stop', {}),
  ],
  whole: (text) =>
    message({
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 10, output_tokens: 5 },
    }),
  trouble: { name: 'error', data: busy },
  troubleBody: busy,
  complaint: {
    name: 'error',
    data: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 20 tokens > 10 maximum' },
    },
  },
};

const candidate = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
});
const ended = {
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
};
const unavailable = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } };

const content: Dialect = {
  opening: [{ data: candidate([]) }],
  says: (text) => ({ data: candidate([{ text }]) }),
  end: () => [{ data: { ...candidate([{ text: '' }], { finishReason: 'STOP' }), ...ended } }],
  whole: (text) => ({ ...candidate([{ text }], { finishReason: 'STOP' }), ...ended }),
  trouble: { data: unavailable },
  troubleBody: unavailable,
  complaint: {
    data: {
      error: {
        code: 400,
        message: 'The input token count (20) exceeds the maximum number of tokens allowed (10).',
        status: 'INVALID_ARGUMENT',
      },
    },
  },
};

const dialects: Readonly<Record<string, Dialect>> = {
  chat,
  responses,
  messages,
  'generate-content': content,
};

/** @throws when the family is none of text. */
export function dialectOf({ family }: Pick<Speaker, 'family'>): Dialect {
  const found = dialects[family];
  if (!found) throw new Error(`${family} says nothing in words`);
  return found;
}

/** The pieces as they go over the wire, without the end of an array. */
export function framed({ framing }: Pick<Speaker, 'framing'>, pieces: readonly Piece[]): string {
  if (framing === 'array') return `[${pieces.map(({ data }) => JSON.stringify(data)).join('\n,\n')}\n`;
  return pieces
    .map(({ name, data }) => {
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
    })
    .join('');
}

/** What a provider sends that answers well. */
export function wellAnswered(speaker: Pick<Speaker, 'family' | 'framing' | 'streamed'>, id: string): string {
  const dialect = dialectOf(speaker);
  const text = 'All is well.';
  if (!speaker.streamed) return JSON.stringify(dialect.whole(text, id));
  const pieces = [...dialect.opening, dialect.says(text), ...dialect.end(text, id)];
  return framed(speaker, pieces) + (speaker.framing === 'array' ? ']' : '');
}
