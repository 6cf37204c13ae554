import { createParser } from 'eventsource-parser';
import { describe, expect, it } from 'vitest';
import { readJob } from '#lib/console/playground/answers/media';
import {
  addPieces,
  emptyAnswer,
  finishedPictures,
  type PlaygroundAnswer,
  piecesOfAnswer,
  piecesOfEvent,
  refusalIn,
} from '#lib/console/playground/answers/read';
import type { PlaygroundFamily } from '#lib/console/playground/draft';
import { recordings } from '#tests/unit/relay/streams';

/** Reads a stream as the page does. */
function streamed(family: PlaygroundFamily, text: string): PlaygroundAnswer {
  let answer = emptyAnswer;
  const parser = createParser({
    onEvent: ({ data }) => {
      answer = addPieces(answer, piecesOfEvent(family, data, finishedPictures(answer)));
    },
  });
  parser.feed(text);
  return answer;
}
const events = (...values: unknown[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
const whole = (family: PlaygroundFamily, value: unknown) =>
  addPieces(emptyAnswer, piecesOfAnswer(family, JSON.stringify(value)));

describe('an answer is read from its stream', () => {
  it.each<[PlaygroundFamily, string]>([
    [
      'chat',
      events(
        { choices: [{ delta: { role: 'assistant', content: '' } }] },
        { choices: [{ delta: { reasoning_content: 'Hm' } }] },
        { choices: [{ delta: { content: 'Hel' } }] },
        { choices: [{ delta: { content: 'lo' }, finish_reason: 'length' }] },
        { choices: [], usage: { prompt_tokens: 1 } },
      ),
    ],
    [
      'responses',
      events(
        { type: 'response.created', response: { id: 'r' } },
        { type: 'response.reasoning_summary_text.delta', delta: 'Hm' },
        { type: 'response.output_text.delta', delta: 'Hel' },
        { type: 'response.output_text.delta', delta: 'lo' },
        { type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } },
      ),
    ],
    [
      'messages',
      events(
        { type: 'message_start', message: { content: [] } },
        { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'Hm' } },
        { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hel' } },
        { type: 'content_block_delta', delta: { type: 'text_delta', text: 'lo' } },
        { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
      ),
    ],
    [
      'generate-content',
      events(
        { candidates: [{ content: { parts: [{ text: 'Hm', thought: true }, { text: 'Hel' }] } }] },
        { candidates: [{ content: { parts: [{ text: 'lo' }] }, finishReason: 'MAX_TOKENS' }] },
      ),
    ],
  ])('%s', (family, text) => {
    expect(streamed(family, text)).toEqual({ ...emptyAnswer, thought: 'Hm', text: 'Hello', cut: true });
  });

  it('images: a finished picture replaces its partial one', () => {
    const part = (type: string, data: string) => ({ type: `image_generation.${type}`, b64_json: data });
    const answer = streamed(
      'images',
      events(part('partial_image', 'AAAA'), part('completed', 'BBBB'), {
        ...part('partial_image', 'CCCC'),
        output_format: 'webp',
      }),
    );
    expect(answer.pictures).toEqual([
      { place: 0, source: 'data:image/png;base64,BBBB', partial: false },
      { place: 1, source: 'data:image/webp;base64,CCCC', partial: true },
    ]);
  });

  it.each<[PlaygroundFamily, unknown]>([
    ['chat', { error: { message: 'It broke.', code: 'upstream_request_failed' } }],
    ['responses', { type: 'error', error: { message: 'It broke.', code: 'upstream_request_failed' } }],
    ['responses', { type: 'error', message: 'It broke.', code: 'upstream_request_failed' }],
    [
      'responses',
      {
        type: 'response.failed',
        response: { error: { message: 'It broke.', code: 'upstream_request_failed' } },
      },
    ],
    ['messages', { type: 'error', error: { message: 'It broke.', code: 'upstream_request_failed' } }],
    ['images', { error: { message: 'It broke.', code: 'upstream_request_failed' } }],
  ])('%s: a broken answer keeps what arrived, and says why it broke', (family, end) => {
    expect(streamed(family, events(end)).fault).toEqual({
      code: 'upstream_request_failed',
      message: 'It broke.',
    });
  });
});

describe('an answer is read whole', () => {
  it.each<[PlaygroundFamily, unknown]>([
    ['chat', { choices: [{ message: { content: 'Hello', reasoning: 'Hm' }, finish_reason: 'stop' }] }],
    [
      'responses',
      {
        error: null,
        output: [
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
          { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
        ],
      },
    ],
    [
      'messages',
      {
        content: [
          { type: 'thinking', thinking: 'Hm' },
          { type: 'text', text: 'Hello' },
        ],
      },
    ],
    [
      'generate-content',
      { candidates: [{ content: { parts: [{ text: 'Hm', thought: true }, { text: 'Hello' }] } }] },
    ],
  ])('%s', (family, value) => {
    expect(whole(family, value)).toEqual({ ...emptyAnswer, thought: 'Hm', text: 'Hello' });
  });

  it('pictures are shown as pictures, addresses as links, and nothing else as either', () => {
    const answer = whole('images', {
      output_format: 'svg',
      data: [
        { b64_json: 'AAAA' },
        { b64_json: '"><script>' },
        { url: 'https://files.test/a.png' },
        { url: 'javascript:alert(1)' },
      ],
    });
    expect(answer.pictures.map(({ source }) => source)).toEqual(['data:image/png;base64,AAAA']);
    expect(answer.links).toEqual(['https://files.test/a.png']);
  });
});

describe('unexpected bytes of a provider', () => {
  it.each(['', 'null', '[]', '{"choices":7}', '{"choices":[null]}', '<html>', '{"error":{"message":7}}'])(
    'cause no error: %s',
    (body) => {
      for (const family of ['chat', 'responses', 'messages', 'generate-content', 'images'] as const) {
        expect(addPieces(emptyAnswer, piecesOfAnswer(family, body))).toEqual(emptyAnswer);
        expect(addPieces(emptyAnswer, piecesOfEvent(family, body, 0))).toEqual(emptyAnswer);
      }
      expect(readJob(body)).toBeNull();
    },
  );

  it.each([
    ['{"error":{"message":"No funds.","code":"insufficient_balance"}}', 'insufficient_balance', 'No funds.'],
    ['{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}', 'overloaded_error', 'Busy'],
    ['{"error":{"code":400,"message":"Bad","status":"INVALID_ARGUMENT"}}', 'INVALID_ARGUMENT', 'Bad'],
    ['{"error":"Not today"}', null, 'Not today'],
    ['{"detail":"No such model"}', null, 'No such model'],
    ['<html></html>', null, 'The answer was HTTP 500.'],
    ['plain words', null, 'plain words'],
  ])('a refusal has the provider’s own code and message: %s', (body, code, message) => {
    expect(refusalIn(500, body)).toEqual({ code, message });
  });
});

describe('a job', () => {
  it('of videos is polled at its own address until it has ended', () => {
    const address = '/v1/videos/v_1';
    expect(readJob({ id: 'v_1', status: 'in_progress', progress: 40 })).toMatchObject({
      state: 'running',
      progress: 40,
      address,
    });
    expect(readJob({ id: 'v_1', status: 'completed' })).toMatchObject({
      state: 'done',
      results: [`${address}/content`],
    });
    expect(readJob({ id: 'v_1', status: 'failed', error: { message: 'No.', code: 'x' } })).toMatchObject({
      state: 'failed',
      fault: { code: 'x', message: 'No.' },
    });
  });

  it('of predictions names its files, or why there are none', () => {
    const name = 'models/vendor/name/operations/o1';
    const video = { uri: 'https://provider.test/v1beta/files/abc123:download?alt=media' };
    const ended = (response: unknown) =>
      readJob({ name, done: true, response: { generateVideoResponse: response } });
    expect(readJob({ name })).toMatchObject({ state: 'running', address: `/v1beta/${name}` });
    expect(ended({ generatedSamples: [{ video }] })?.results).toEqual([
      '/v1beta/files/abc123:download?alt=media',
    ]);
    expect(ended({ raiMediaFilteredReasons: ['Filtered.'] })).toMatchObject({
      state: 'failed',
      fault: { message: 'Filtered.' },
    });
  });
});

/** Calls of tools, counts, lists of chunks (the page asks for events), and examples that leave their picture out. */
const wordless =
  /^\[\{|tool_(call|use)|function_?call|_tokens": ?\d+\}?$|totalTokens|"object": ?"response.input_tokens"|b64_json": ?"\.\.\./im;

const spoken: Readonly<Record<string, PlaygroundFamily>> = {
  chat: 'chat',
  responses: 'responses',
  messages: 'messages',
  generateContent: 'generate-content',
  images: 'images',
};
const recorded = recordings(Object.keys(spoken));

describe.skipIf(recorded.length === 0)('recorded answers of providers', () => {
  it('are refusals with a message, or contain something to show', () => {
    const silent = recorded.filter(({ family, status, stream, body }) => {
      const text = body.toString('utf8');
      const read = spoken[family] ?? 'chat';
      if (status !== null && status >= 400) return refusalIn(status, text).message === '';
      const answer = stream ? streamed(read, text) : addPieces(emptyAnswer, piecesOfAnswer(read, text));
      const { pictures, links, fault, cut } = answer;
      return (
        answer.text + answer.thought === '' && pictures.length + links.length === 0 && !cut && fault === null
      );
    });
    const expected = silent.filter(({ body }) => wordless.test(body.toString('utf8')));
    expect(silent.filter((one) => !expected.includes(one)).map(({ file }) => file)).toEqual([]);
    expect(silent.length).toBeLessThan(recorded.length / 5);
  });
});

describe('answers that are figures', () => {
  const textOf = (family: 'transcriptions' | 'embeddings' | 'rerank' | 'moderations', body: object) =>
    piecesOfAnswer(family, JSON.stringify(body));

  it.each([
    ['transcriptions', { text: 'A calm sea.' }, 'A calm sea.'],
    [
      'embeddings',
      { data: [{ embedding: [1, 0] }, { embedding: [0, 2] }, { embedding: [3, 0] }] },
      'Cosine similarity (2 dimensions)\nLines 1 and 2: 0.0000\nLines 1 and 3: 1.0000',
    ],
    [
      'rerank',
      {
        results: [
          { index: 1, relevance_score: 0.9 },
          { index: 0, relevance_score: 0.1 },
        ],
      },
      'Line 3: 0.9000\nLine 2: 0.1000',
    ],
    [
      'moderations',
      { results: [{ flagged: true, category_scores: { harassment: 0.01, violence: 0.97 } }] },
      'Flagged\nviolence: 0.9700\nharassment: 0.0100',
    ],
  ] as const)('of %s are shown as lines', (family, body, text) => {
    expect(textOf(family, body)).toEqual([{ kind: 'text', text }]);
  });

  it.each(['transcriptions', 'embeddings', 'rerank', 'moderations'] as const)(
    'of %s may be strange',
    (family) => {
      for (const body of [{}, { data: [{}], results: [{}], text: 7 }, { error: { message: 'No.' } }]) {
        expect(Array.isArray(textOf(family, body))).toBe(true);
      }
    },
  );
});
