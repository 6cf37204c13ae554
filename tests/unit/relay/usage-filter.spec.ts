import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageFilter } from '#lib/core/relay/usage-filter';
import {
  after,
  before,
  cuts,
  lineEnds,
  recordings,
  usageEvent,
  withLineEnd,
} from '#tests/unit/relay/streams';

function relay(pieces: readonly Uint8Array[]): Buffer {
  const filter = new UsageFilter();
  return Buffer.concat([...pieces.flatMap((piece) => [...filter.push(piece)]), ...filter.flush()]);
}
const relayText = (text: string) => relay([Buffer.from(text)]).toString();
const event = (json: string) => `data: ${json}\n\n`;
const done = 'data: [DONE]\n\n';

describe('an event that merely tells usage is removed (contract: body/include-usage)', () => {
  it.each(lineEnds)(
    'from its first byte to its blank line, wherever the stream is cut, with %s',
    (_n, end) => {
      const stream = withLineEnd(before + usageEvent + after, end);
      const expected = withLineEnd(before + after, end).toString();
      for (const pieces of cuts(stream)) expect(relay(pieces).toString()).toBe(expected);
    },
  );

  it.each([
    ['minimal', '{"choices":[],"usage":{}}'],
    ['spaced', ' { "usage" : { "a" : [ { "choices" : [1] } ] } , "choices" : [ ] } '],
    [
      'with every key that it may have',
      '{"id":"","object":"","created":1,"model":"","system_fingerprint":null,"service_tier":null,"obfuscation":"\\"","choices":[],"usage":{"x":"}{"}}',
    ],
  ])('%s', (_name, json) => expect(relayText(event('1') + event(json) + done)).toBe(event('1') + done));

  it('a usage event over several data lines, with comments and other fields, is removed', () => {
    const text = ': "choices":[{\nevent: message\nid: 5\ndata: {"choices":[],\ndata:"usage":{}}\n: d\n\n';
    expect(relayText(text + done)).toBe(done);
  });

  it('a usage event is removed first or last in the stream, with or without its blank line, after a byte order mark', () => {
    expect(relayText(usageEvent)).toBe('');
    expect(relayText(done + usageEvent.trimEnd())).toBe(done);
    expect(relayText(`\ufeff${usageEvent}${done}`)).toBe(`\ufeff${done}`);
  });

  it('every usage event of a stream is removed', () => {
    expect(relayText(usageEvent + event('1') + usageEvent + usageEvent + done)).toBe(event('1') + done);
  });

  it.each([
    ['x_groq', ',"x_groq":{"id":"req_1","usage":{"prompt_tokens":1}}'],
    ['provider', ',"provider":"Azure"'],
    ['usage_breakdown', ',"usage_breakdown":{"a":[{"b":"}"}]}'],
    ['time_info', ',"time_info":{"queue_time":0.1}'],
    ['cost', ',"cost":0.001'],
    ['nvext', ',"nvext":{"worker_id":1}'],
    ['metrics', ',"metrics":{"ttft":1}'],
    ['error: null', ',"error":null'],
    ['nothing for people', ',"citations":[],"search_results":null'],
    ['a key longer than any', `,"${'k'.repeat(200)}":"\\"}"`],
  ])('with %s, wherever the stream is cut', (_name, more) => {
    const variants = [
      `{"id":"x","choices":[],"usage":{"prompt_tokens":1}${more}}`,
      `{"id":"x"${more},"choices": [ ],"usage":{"prompt_tokens":1}}`,
      `{"usage":{"prompt_tokens":1}${more},"choices":null}`,
      `{"usage":{"prompt_tokens":1},"id":"x"${more}}`,
    ];
    for (const [, end] of lineEnds) {
      const stream = withLineEnd(event('1') + variants.map(event).join('') + done, end);
      const expected = withLineEnd(event('1') + done, end);
      for (const pieces of cuts(stream, 3)) expect(relay(pieces).equals(expected)).toBe(true);
    }
  });

  it('an event with usage only in x_groq is removed', () => {
    expect(relayText(event('{"choices":[],"x_groq":{"id":"r","usage":{"total_tokens":1}}}') + done)).toBe(
      done,
    );
  });

  it('a usage event whose keys are written with escapes is removed', () => {
    expect(relayText(event('{"choices":[],"\\u0075sage":{}}') + done)).toBe(done);
  });
});

describe('every other event passes byte for byte (contract: request/passthrough)', () => {
  it.each([
    '{"choices":[{"index":0,"delta":{}}],"usage":{}}',
    '{"choices":[],"usage":null}',
    '{"choices":[]}',
    '{"usage":{"a":1},"choices":[{"index":0,"delta":{"content":"x"}}]}',
    '{"choices": [{"index":0,"delta":{}}], "x_groq":{"usage":{}}}',
    '{"id":"x","provider":"y","choices":[{"index":0,"delta":{}}],"citations":["a"],"usage":{}}',
    '{"choices":[],"x_groq":{"id":"r"}}',
    '{"choices":[],"citations":["a"],"x_groq":{"usage":{}}}',
    '{"choices":[],"usage":{},"error":{}}',
    '{"choices":[],"prompt_filter_results":[{}],"usage":null}',
    '{"choices":{},"usage":{}}',
    '{"choices":[[]],"usage":{}}',
    '{"choices":[],"usage":{}',
    '{"choices":[],"usage":{}}}',
    '{"choices":[],"usage":{}} x',
    '{"choices":[]],"usage":{}}',
    '[{"choices":[],"usage":{}}]',
    '{}',
    '"choices"',
    '',
    '{"x":{"choices":[],"usage":{}}}',
  ])('%s', (json) => {
    const stream = Buffer.from(event(json) + event(json) + done);
    for (const pieces of cuts(stream)) expect(relay(pieces).toString()).toBe(stream.toString());
  });

  it('any other stream passes byte for byte', () => {
    const token = fc.constantFrom(
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      'data:',
      'data: ',
      '{"choices":[',
      ']',
      '}',
      ',"usage":{}',
      'x',
      '\ufeff',
      ': c',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 25 }), fc.array(fc.nat(80)), (tokens, at) => {
        const bytes = Buffer.from(tokens.join(''));
        if (/usage/.test(bytes.toString()) && /choices":\[\]/.test(bytes.toString().replace(/\s|data:/g, '')))
          return;
        const bounds = [0, ...at.map((i) => i % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        expect(relay(bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end)))).toEqual(bytes);
      }),
      { numRuns: 3_000 },
    );
  });

  it('whole chunks pass without a copy', () => {
    const chunk = Buffer.from(before);
    expect(new UsageFilter().push(chunk)).toEqual([chunk]);
    expect(new UsageFilter().push(chunk)[0]).toBe(chunk);
  });
});

describe('an event that also carries something for people loses its usage alone', () => {
  const sources = '"search_results":[{"title":"a, \\"b\\"} ","url":"https://a.example"}]';
  const usage = '"usage" : {"cost":{"total":[1,{}]},"s":"}\\"{"}';
  it.each([
    ['first', `{${usage} , "choices":[],${sources}}`, `{"choices":[],${sources}}`],
    ['in the middle', `{"choices":[] , ${usage},${sources}}`, `{"choices":[] , ${sources}}`],
    ['last', `{"choices":[],${sources}, ${usage} }`, `{"choices":[],${sources}}`],
    ['twice', `{${usage},${sources},"id":"x",${usage},${usage}}`, `{${sources},"id":"x"}`],
  ])('that stands %s, wherever the stream is cut', (_place, json, left) => {
    for (const [, end] of lineEnds) {
      const stream = withLineEnd(`: c\nid: 7\n${event(json)}${event('1')}${done}`, end);
      const expected = withLineEnd(`: c\nid: 7\n${event(left)}${event('1')}${done}`, end);
      for (const pieces of cuts(stream)) expect(relay(pieces).toString()).toBe(expected.toString());
    }
  });

  it('over several data lines', () => {
    const split = (text: string) =>
      text
        .split('|')
        .map((line) => `data: ${line}\n`)
        .join('');
    const told = split(`{"choices":[],|"usage":{"a":|1},|${sources}}`);
    expect(relayText(`${told}\n${done}`)).toBe(`${split(`{"choices":[],|||${sources}}`)}\n${done}`);
  });

  it('an event for people without its blank line loses its usage at the end of the stream', () => {
    expect(relayText(`data: {${sources},${usage}}`)).toBe(`data: {${sources}}`);
  });

  it('an event for people stays the same JSON without its usage, whatever it contains', () => {
    const keys = fc.constantFrom('id', 'x"y', 'cost', 'usage ', 'a\\b', 'é');
    const others = fc.dictionary(keys, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
    const asked = fc.tuple(others, others, fc.jsonValue({ maxDepth: 3 }), fc.nat(4), fc.array(fc.nat(999)));
    fc.assert(
      fc.property(asked, ([before, after, usage, space, at]) => {
        const told = { ...before, citations: ['a'], usage: usage ?? 1, choices: [], ...after };
        const { usage: _gone, ...left } = told;
        const line = JSON.stringify(told, null, space).replaceAll('\n', '\ndata: ');
        const stream = Buffer.from(event(line) + done);
        const bounds = [0, ...at.map((i) => i % (stream.length + 1)).sort((a, b) => a - b), stream.length];
        const sent = relay(bounds.slice(1).map((end, i) => stream.subarray(bounds[i], end))).toString();
        const [data = '', ...rest] = sent.split('\n\n');
        expect(rest).toEqual([done.trimEnd(), '']);
        expect(JSON.parse(data.replace(/^data: /gm, ''))).toEqual(JSON.parse(JSON.stringify(left)));
      }),
    );
  });
});

describe('an event is held back only while it may still be the one', () => {
  const held = (text: string) => {
    const filter = new UsageFilter();
    const sent = Buffer.concat([...filter.push(Buffer.from(text))]).length;
    return Buffer.byteLength(text) - sent;
  };

  it.each([
    ['data: [DONE', 0],
    ['data: {"id":"x","choices":[{', 0],
    ['data: {"error":{', 0],
    ['data: {"choices":[],"usage":n', 0],
    ['data: {"id":"x","created":1,"choi', 33],
    ['data: {"choices":[', 18],
    [`${done}data`, 4],
  ])('%s', (text, bytes) => expect(held(text)).toBe(bytes));

  it('never more than a mebibyte of an event is held back', () => {
    const filter = new UsageFilter();
    const start = Buffer.from('data: {"choices":[],"id":"');
    expect(filter.push(start)).toEqual([]);
    expect(Buffer.concat([...filter.push(Buffer.alloc(2 ** 20, 0x78))]).length).toBe(start.length + 2 ** 20);
    expect(filter.push(Buffer.from('x'))).toHaveLength(1);
  });
});

describe.skipIf(recordings().length === 0)('recorded streams', () => {
  const streams = recordings().filter(({ stream, body }) => stream && body.length < 100_000);

  it.each(streams.map((one) => [one.file, one] as const))('%s', (_file, { body }) => {
    const text = body.toString();
    const blocks = text.split(/(?<=\r\n\r\n|\n\n)/);
    const kept = blocks.filter((block) => !tellsUsage(block));
    expect(blocks.length - kept.length).toBeLessThanOrEqual(1);
    let round = 0;
    // Every cut of a short stream; of a long one a seventh of those that `cuts` makes.
    const every = body.length < 5_000 ? 1 : 7;
    for (const pieces of cuts(body, body.length < 5_000 ? 1 : undefined)) {
      if (round++ % every === 0 || pieces.length > 2) {
        expect(relay(pieces).equals(Buffer.from(kept.join('')))).toBe(true);
      }
    }
  });

  it('recorded streams of OpenRouter lose their usage too, whatever keys they have', () => {
    const lost = streams.filter(({ body }) =>
      body
        .toString()
        .split(/\r\n\r\n|\n\n/)
        .some(tellsUsage),
    );
    expect(lost.some(({ file }) => file.includes('openrouter'))).toBe(true);
  });

  function tellsUsage(block: string): boolean {
    const data = block.trim().replace(/^data: ?/, '');
    if (!data.startsWith('{')) return false;
    const { choices, usage, error } = JSON.parse(data);
    return (choices ?? []).length === 0 && Boolean(usage) && !error;
  }
});
