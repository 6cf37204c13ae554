import { describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import type { Ask, Family } from '#lib/core/families/family';
import { generateContent } from '#lib/core/families/generate-content';
import { images } from '#lib/core/families/images';
import { messages } from '#lib/core/families/messages';
import { responses } from '#lib/core/families/responses';
import type { Meter } from '#lib/core/metering/meter';
import { askContent } from '#tests/unit/families/content/make';
import { askImages } from '#tests/unit/families/images/make';
import { askChat } from '#tests/unit/families/make';
import { askMessages } from '#tests/unit/families/messages/make';
import { askResponse } from '#tests/unit/families/responses/make';
import { createMeter } from '#tests/unit/metering/make';
import { cuts } from '#tests/unit/relay/streams';

type Case = readonly [what: string, text: string];

/** The streams of one family, event by event. */
interface Streams {
  readonly family: Family;
  readonly ask: Ask;
  /** Say nothing yet. */
  readonly silent: readonly Case[];
  /** Say something, each on its own. */
  readonly words: readonly Case[];
  /** End the answer in the family's own way, without a reason: alone they are no answer. */
  readonly bareEnds: readonly Case[];
  /** End it and give a reason, or report usage: alone they are an answer. */
  readonly ends: readonly Case[];
  /** Errors, and the error object that each carries; undefined: none that could be read. */
  readonly errors: readonly (readonly [...Case, error: unknown])[];
}

const data = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
const named = (payload: { readonly type: string } & Readonly<Record<string, unknown>>) =>
  `event: ${payload.type}\n${data(payload)}`;
const done = 'data: [DONE]\n\n';
const error = { code: 'server_error', message: 'x' };
const comments: readonly Case[] = [
  ['a comment', ': PROCESSING\n\n'],
  ['a blank line', '\n\n'],
  ['no JSON', 'data: nonsense\n\n'],
  ['an event of another shape', 'data: [1]\n\n'],
];

const choice = (fields: object) => data({ choices: [{ index: 0, ...fields }] });
const delta = (fields: object) => choice({ delta: fields, finish_reason: null });
const chatUsage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

const block = (fields: object) => named({ type: 'content_block_start', index: 0, content_block: fields });
const blockDelta = (fields: object) => named({ type: 'content_block_delta', index: 0, delta: fields });
const messageStop = named({ type: 'message_stop' });
const messageDelta = (delta: object, usage: object | null = null) =>
  named({ type: 'message_delta', delta, usage });

const response = (state: string, fields: object = {}) =>
  named({ type: `response.${state}`, response: { id: 'r', status: state, output: [], ...fields } });
const item = (fields: object) => named({ type: 'response.output_item.added', item: fields });

const parts = (...parts: readonly object[]) => data({ candidates: [{ index: 0, content: { parts } }] });

const streams: readonly Streams[] = [
  {
    family: chat,
    ask: askChat({ model: 'm', stream: true }),
    silent: [
      ...comments,
      ['a role', delta({ role: 'assistant' })],
      [
        'a role and empty members',
        delta({ role: 'assistant', content: '', refusal: null, tool_calls: [], reasoning_content: '' }),
      ],
      ['an empty delta', delta({})],
      ['no choices', data({ choices: [] })],
      ['filters without choices', data({ choices: [], prompt_filter_results: [{}] })],
      ['usage', data({ choices: [], usage: chatUsage })],
      ['an empty text of a legacy completion', choice({ text: '' })],
    ],
    words: [
      ['a text', delta({ content: 'a' })],
      ['a space', delta({ content: ' ' })],
      ['a text beside its role', delta({ role: 'assistant', content: 'a' })],
      ['thinking', delta({ content: '', reasoning_content: 'a' })],
      ['thinking by its other name', delta({ content: null, reasoning: 'a' })],
      ['a tool call', delta({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '' } }] })],
      ['a refusal', delta({ refusal: 'no' })],
      ['an image', delta({ images: [{ type: 'image_url', image_url: { url: 'data:' } }] })],
      ['sound', delta({ audio: { data: 'AA' } })],
      ['a text of a legacy completion', choice({ text: 'a' })],
      ['a whole message', choice({ message: { role: 'assistant', content: 'a' } })],
      [
        'a later choice',
        data({
          choices: [
            { index: 0, delta: {} },
            { index: 1, delta: { content: 'a' } },
          ],
        }),
      ],
    ],
    bareEnds: [['[DONE]', done]],
    ends: [
      ['a reason', choice({ delta: {}, finish_reason: 'stop' })],
      ['a reason and [DONE]', choice({ delta: {}, finish_reason: 'content_filter' }) + done],
      ['usage and [DONE]', data({ choices: [], usage: chatUsage }) + done],
    ],
    errors: [
      ['a chunk', data({ error }), error],
      ['an error event', `event: error\n${data({ error })}`, error],
      ['an error event that is no JSON', 'event: error\ndata: x\n\n', undefined],
      ['a choice', choice({ delta: {}, error, finish_reason: 'error' }), error],
      ['a choice without a reason', choice({ delta: {}, error }), error],
      ['a reason', choice({ delta: {}, finish_reason: 'error' }), {}],
    ],
  },
  {
    family: messages,
    ask: askMessages({ model: 'm', stream: true, max_tokens: 9, messages: [] }),
    silent: [
      ...comments,
      ['a ping', named({ type: 'ping' })],
      ['the start', named({ type: 'message_start', message: { id: 'msg', usage: { input_tokens: 3 } } })],
      ['an empty text', block({ type: 'text', text: '' })],
      ['an empty thought', block({ type: 'thinking', thinking: '', signature: '' })],
      ['an empty delta', blockDelta({ type: 'text_delta', text: '' })],
      ['an empty thinking delta', blockDelta({ type: 'thinking_delta', thinking: '' })],
      ['empty arguments', blockDelta({ type: 'input_json_delta', partial_json: '' })],
      ['the end of a block', named({ type: 'content_block_stop', index: 0 })],
    ],
    words: [
      ['a text', blockDelta({ type: 'text_delta', text: 'a' })],
      ['a text that a block begins with', block({ type: 'text', text: 'a' })],
      ['thinking', blockDelta({ type: 'thinking_delta', thinking: 'a' })],
      ['thinking that a block begins with', block({ type: 'thinking', thinking: 'a' })],
      ['redacted thinking', block({ type: 'redacted_thinking', data: 'AA' })],
      ['the signature of a hidden thought', blockDelta({ type: 'signature_delta', signature: 'AA' })],
      ['a tool call', block({ type: 'tool_use', id: 't', name: 'f', input: {} })],
      ['a call of the provider’s tool', block({ type: 'server_tool_use', id: 't', name: 'f', input: {} })],
      ['arguments', blockDelta({ type: 'input_json_delta', partial_json: '{' })],
    ],
    bareEnds: [['message_stop', messageStop]],
    ends: [
      ['a reason', messageDelta({ stop_reason: 'refusal' }) + messageStop],
      ['usage', messageDelta({ stop_reason: null }, { output_tokens: 0 }) + messageStop],
    ],
    errors: [
      ['an error event', named({ type: 'error', error }), error],
      ['an error without an event name', data({ type: 'error', error }), error],
      ['an error event that is no JSON', 'event: error\ndata: x\n\n', undefined],
    ],
  },
  {
    family: responses,
    ask: askResponse({ model: 'm', stream: true }),
    silent: [
      ...comments,
      ['created', response('created')],
      ['queued', response('queued')],
      ['in_progress', response('in_progress')],
      ['a keepalive', named({ type: 'keepalive', sequence_number: 3 })],
      ['an empty message', item({ type: 'message', id: 'i', content: [] })],
      ['an empty thought', item({ type: 'reasoning', id: 'i', summary: [] })],
      [
        'an empty part',
        named({ type: 'response.content_part.added', part: { type: 'output_text', text: '' } }),
      ],
      ['an empty delta', named({ type: 'response.output_text.delta', delta: '' })],
      [
        'an empty summary',
        named({ type: 'response.reasoning_summary_part.added', part: { type: 'summary_text', text: '' } }),
      ],
    ],
    words: [
      ['a text', named({ type: 'response.output_text.delta', delta: 'a' })],
      ['thinking', named({ type: 'response.reasoning_text.delta', delta: 'a' })],
      ['a summary of thinking', named({ type: 'response.reasoning_summary_text.delta', delta: 'a' })],
      ['a refusal', named({ type: 'response.refusal.delta', delta: 'no' })],
      ['a tool call', item({ type: 'function_call', id: 'i', name: 'f', arguments: '' })],
      ['a search', named({ type: 'response.web_search_call.in_progress', item_id: 'i' })],
      ['an image', named({ type: 'response.image_generation_call.partial_image', partial_image_b64: 'AA' })],
      ['a kind of event that is not known', named({ type: 'response.novelty' })],
      [
        'a message that comes whole',
        item({ type: 'message', content: [{ type: 'output_text', text: 'a' }] }),
      ],
      ['what was said by its name alone', 'data: {"type":"response.output_text.delta","delta":"a"}\n\n'],
    ],
    bareEnds: [['[DONE]', done]],
    ends: [
      ['completed', response('completed')],
      ['incomplete', response('incomplete')],
      ['cancelled', response('cancelled')],
      ['completed and [DONE]', response('completed') + done],
    ],
    errors: [
      ['a failed response', response('failed', { error }), error],
      ['an error event', named({ type: 'error', ...error }), { type: 'error', ...error }],
      ['an error in an error event', named({ type: 'error', error }), error],
      [
        'an error event before the failed response',
        named({ type: 'error', error }) + response('failed'),
        error,
      ],
      ['an error event that is no JSON', 'event: error\ndata: x\n\n', undefined],
    ],
  },
  {
    family: generateContent,
    ask: askContent({}, 'stream'),
    silent: [
      ...comments,
      ['no candidates', data({ candidates: [] })],
      ['usage', data({ usageMetadata: { promptTokenCount: 3 } })],
      ['a candidate without content', data({ candidates: [{ index: 0 }] })],
      ['a role', data({ candidates: [{ index: 0, content: { role: 'model' } }] })],
      ['an empty text', parts({ text: '' })],
      ['an empty thought', parts({ text: '', thought: true })],
    ],
    words: [
      ['a text', parts({ text: 'a' })],
      ['a thought', parts({ text: 'a', thought: true })],
      ['a tool call', parts({ functionCall: { name: 'f', args: {} } })],
      ['code', parts({ executableCode: { code: 'a' } })],
      ['an image', parts({ inlineData: { mimeType: 'image/png', data: 'AA' } })],
      ['a later part', parts({ text: '' }, { text: 'a' })],
      ['chunks in a list', 'data: [{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}]\n\n'],
    ],
    bareEnds: [],
    ends: [
      ['a reason', data({ candidates: [{ index: 0, finishReason: 'SAFETY' }] })],
      ['a reason as a number', data({ candidates: [{ index: 0, finishReason: 2 }] })],
      ['a blocked prompt', data({ promptFeedback: { blockReason: 'SAFETY' } })],
    ],
    errors: [
      ['a chunk', data({ error }), error],
      ['a list', `data: ${JSON.stringify([{ error }])}\n\n`, error],
    ],
  },
  {
    family: images,
    ask: askImages({ model: 'm', stream: true }),
    silent: [...comments, ['what is not known', named({ type: 'image_generation.started' })]],
    words: [
      ['a partial image', named({ type: 'image_generation.partial_image', b64_json: 'AA' })],
      ['an image', named({ type: 'image_generation.completed', b64_json: 'AA' })],
    ],
    bareEnds: [['[DONE]', done]],
    ends: [['an image', named({ type: 'image_edit.completed', b64_json: 'AA' })]],
    errors: [
      ['an error event', `event: error\n${data({ error })}`, error],
      ['by its type', data({ type: 'error', ...error }), { type: 'error', ...error }],
      ['an error event that is no JSON', 'event: error\ndata: x\n\n', undefined],
    ],
  },
];

function metered({ family, ask }: Pick<Streams, 'family' | 'ask'>, ...pieces: readonly Uint8Array[]): Meter {
  const meter = createMeter(family, ask, { contentType: 'text/event-stream' });
  for (const piece of pieces) meter.push(piece);
  meter.end();
  return meter;
}
const told = (one: Streams, text: string) => metered(one, Buffer.from(text));

describe.each(streams)(
  'a stream of the $family.id family (contract: routing/begun, routing/own-end)',
  (one) => {
    const { silent, words, bareEnds, ends, errors } = one;
    const [[, word] = ['', '']] = words;
    const [[, end] = ['', '']] = ends;

    it.each(silent)('has not begun with %s', (_, text) => {
      const meter = told(one, text);
      expect([meter.said, meter.failed, meter.state()]).toEqual([0, false, 'cut']);
    });

    it.each(words)('has begun with %s', (_, text) => expect(told(one, text).said).toBe(1));

    it('a stream begins at its first word wherever it is cut, and counts each further one', () => {
      const before = silent.map(([, text]) => text).join('');
      const stream = Buffer.from(before + words.map(([, text]) => text).join(''));
      for (const pieces of cuts(stream, 7)) {
        const meter = createMeter(one.family, one.ask, { contentType: 'text/event-stream' });
        let bytes = 0;
        let begun = Number.POSITIVE_INFINITY;
        for (const piece of pieces) {
          meter.push(piece);
          bytes += piece.length;
          if (meter.said > 0) begun = Math.min(begun, bytes);
        }
        expect(begun).toBeGreaterThan(Buffer.byteLength(before));
        expect(meter.said).toBe(words.length);
      }
    });

    it.each(words.filter(([, text]) => !text.includes('.completed')))(
      'is cut when it ends after %s',
      (_, text) => {
        expect(told(one, text).state()).toBe('cut');
      },
    );

    it.each(ends)('a stream is complete with only %s, without a word', (_, text) => {
      expect(told(one, text).state()).toBe('complete');
    });

    it.each([...bareEnds, ...ends])('is complete with a word and %s', (_, text) => {
      expect(told(one, word + text).state()).toBe('complete');
    });

    it.each(bareEnds)('a stream is empty with only %s, whatever it announced', (_, text) => {
      const announced = silent.filter(([what, before]) => what !== 'usage' && !before.includes('"status"'));
      for (const before of ['', ...announced.map(([, before]) => before)]) {
        const meter = told(one, before + text);
        expect([meter.said, meter.state()]).toEqual([0, 'empty']);
      }
    });

    it.each(errors)('carries an error in %s', (_, text, carried) => {
      for (const stream of [text, word + text, text + end, word + text + end]) {
        const meter = told(one, stream);
        expect([meter.failed, meter.state(), meter.error]).toEqual([true, 'error', carried]);
      }
      expect(told(one, word + end).error).toBeUndefined();
    });

    it('a stream is cut when it stops inside a JSON value, even if its end has come', () => {
      const whole = word + end;
      expect(told(one, `${whole}data: {"a":[1`).state()).toBe('cut');
      expect(told(one, `${whole}data: {"a":[1]}`).state()).toBe('complete');
      for (let at = word.length; at < whole.length - 2; at += 1) {
        const meter = told(one, whole.slice(0, at));
        expect([at, meter.state()]).toEqual([
          at,
          whole[at - 1] === '}' && at === whole.trimEnd().length ? 'complete' : 'cut',
        ]);
      }
    });

    it('a stream is unread if an event without its end was too long, and nothing is known against it', () => {
      const long = [Buffer.from(word), Buffer.from('data: '), Buffer.alloc(9 * 2 ** 20, ' "",')];
      expect(metered(one, ...long).state()).toBe('unread');
      expect(metered(one, ...long, Buffer.from(`\n\n${end}`)).state()).toBe('complete');
    });
  },
);

describe('the own end of answers with several choices', () => {
  it('answers with several choices have ended when each choice that began gave a reason', () => {
    const two = { family: chat, ask: askChat({ model: 'm', stream: true, n: 2 }) };
    const say = (index: number, reason: string | null) =>
      Buffer.from(data({ choices: [{ index, delta: { content: 'a' }, finish_reason: reason }] }));
    expect(metered(two, say(0, null), say(1, null), say(0, 'stop')).state()).toBe('cut');
    expect(metered(two, say(0, null), say(1, null), say(0, 'stop'), say(1, 'stop')).state()).toBe('complete');
    expect(metered(two, say(0, 'stop')).state()).toBe('complete');
    const content = {
      family: generateContent,
      ask: askContent({ generationConfig: { candidateCount: 2 } }, 'stream'),
    };
    const candidate = (index: number, finishReason?: string) =>
      Buffer.from(data({ candidates: [{ index, content: { parts: [{ text: 'a' }] }, finishReason }] }));
    expect(metered(content, candidate(0), candidate(1), candidate(0, 'STOP')).state()).toBe('cut');
    expect(metered(content, candidate(0, 'STOP'), candidate(1, 'STOP')).state()).toBe('complete');
  });
});

describe('a streamed array (contract: routing/own-end)', () => {
  const ask = askContent({}, 'stream');
  const state = (text: string) => {
    const meter = createMeter(generateContent, ask, { contentType: 'application/json' });
    meter.push(Buffer.from(text));
    meter.end();
    return meter.state();
  };
  const word = '{"candidates":[{"content":{"parts":[{"text":"a ]}"}]}}]}';
  const last = '{"candidates":[{"finishReason":"STOP"}]}';

  it.each([
    [`[${word},${last}]`, 'complete'],
    [`[${last}]`, 'complete'],
    [last, 'complete'],
    [`[${word},${last}`, 'cut'],
    [`[${word},${last},{"usageMeta`, 'cut'],
    [`[${word}]`, 'cut'],
    [word, 'cut'],
    ['[{"error":{"code":503}}]', 'error'],
    [`[${word},{"error":{"code":503}}`, 'error'],
    ['', 'cut'],
  ])('%s is %s', (text, expected) => expect(state(text)).toBe(expected));
});

describe('a whole answer (contract: routing/unusable-answer)', () => {
  const chatAnswer = { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }] };
  const wholes = [
    [chat, askChat({ model: 'm' }), chatAnswer],
    [
      messages,
      askMessages({ model: 'm', max_tokens: 9, messages: [] }),
      { content: [{ type: 'text', text: 'a' }] },
    ],
    [responses, askResponse({ model: 'm' }), { id: 'r', status: 'completed', error: null, output: [] }],
    [generateContent, askContent(), { candidates: [{ content: { parts: [{ text: 'a' }] } }] }],
    [images, askImages({ model: 'm' }), { data: [{ b64_json: 'AA' }] }],
  ] as const;

  const read = (family: Family, ask: Ask, text: string, contentType = 'application/json') => {
    const meter = createMeter(family, ask, { contentType });
    const pieces = text.match(/[\s\S]{1,9}/g) ?? [];
    for (const piece of pieces) meter.push(Buffer.from(piece));
    meter.end();
    return meter;
  };

  const rows = wholes.map(([family, ask, answer]) => ({ family, ask, answer, text: JSON.stringify(answer) }));
  describe.each(rows)('of the $family.id family', ({ family, ask, answer, text }) => {
    it.each([
      ['complete', text],
      ['complete', ` \n${text}\r\n `],
      ['empty', '{}'],
      ['empty', ' {} '],
      ['empty', '[]'],
      ['empty', 'null'],
      ['empty', '""'],
      ['error', '{"error":{"message":"x"}}'],
      ['error', '{"error":"x"}'],
      ['error', JSON.stringify({ ...answer, error: { message: 'x' } })],
      ['cut', ''],
      ['cut', ' \n\n '],
      ['cut', '{'],
      ['cut', `${text}}`],
    ])('is %s as %s', (expected, body) => {
      const meter = read(family, ask, body);
      expect([meter.state(), meter.failed]).toEqual([expected, expected === 'error']);
    });

    it('a whole answer is cut wherever it is torn', () => {
      for (let at = 0; at < text.length; at += 1) {
        expect([at, read(family, ask, text.slice(0, at)).state()]).toEqual([at, 'cut']);
      }
    });

    it('a whole answer is unread if it is sound or a picture', () => {
      expect(read(family, ask, text, 'image/png').state()).toBe('unread');
    });
  });

  it('a whole answer gives its error', () => {
    const carried = (family: Family, ask: Ask, body: object) => read(family, ask, JSON.stringify(body)).error;
    const own = { code: 429, message: 'x' };
    for (const [family, ask, answer] of wholes) {
      expect(carried(family, ask, answer)).toBeUndefined();
      expect(carried(family, ask, { ...answer, error: own })).toEqual(own);
    }
    const typed = { type: 'error', message: 'x' };
    expect(carried(messages, wholes[1][1], typed)).toEqual(typed);
    const ask = wholes[0][1];
    expect(carried(chat, ask, { choices: [{ error: own, finish_reason: 'error' }] })).toEqual(own);
    expect(carried(chat, ask, { choices: [{ ...chatAnswer.choices[0], finish_reason: 'error' }] })).toEqual(
      {},
    );
    expect(carried(chat, ask, { ...chatAnswer, choices: [{ index: 0 }, { error: own }] })).toEqual(own);
  });

  it('a whole answer says something with each piece that is more than white space', () => {
    const [family, ask] = wholes[0];
    const meter = createMeter(family, ask, { contentType: 'application/json' });
    const said = [' ', '\n\n', '', '\t', '{', ' ', '"a":1', '}', '\r\n'].map((piece) => {
      meter.push(Buffer.from(piece));
      return meter.said;
    });
    expect(said).toEqual([0, 0, 0, 0, 1, 1, 2, 3, 3]);
  });
});
