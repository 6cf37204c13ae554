import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createUsageFilter } from '#lib/relay/usage-filter';
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
  const filter = createUsageFilter();
  return Buffer.concat([...pieces.flatMap((piece) => [...filter.push(piece)]), ...filter.flush()]);
}
const relayText = (text: string) => relay([Buffer.from(text)]).toString();
const event = (json: string) => `data: ${json}\n\n`;
const done = 'data: [DONE]\n\n';

describe('the one usage event is removed (contract: body/include-usage)', () => {
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

  it('over several data lines, with comments and other fields in it', () => {
    const text = ': "choices":[{\nevent: message\nid: 5\ndata: {"choices":[],\ndata:"usage":{}}\n: d\n\n';
    expect(relayText(text + done)).toBe(done);
  });

  it('first or last in the stream, with or without its blank line, after a byte order mark', () => {
    expect(relayText(usageEvent)).toBe('');
    expect(relayText(done + usageEvent.trimEnd())).toBe(done);
    expect(relayText(`\ufeff${usageEvent}${done}`)).toBe(`\ufeff${done}`);
  });

  it('once: a second one passes', () => {
    expect(relayText(usageEvent + usageEvent + done)).toBe(usageEvent + done);
  });
});

describe('every other event passes byte for byte (contract: request/passthrough)', () => {
  it.each([
    '{"choices":[{"index":0,"delta":{}}],"usage":{}}',
    '{"choices":[],"usage":null}',
    '{"choices":[]}',
    '{"usage":{}}',
    '{"choices":[],"usage":{},"moderation":{}}',
    '{"choices":[],"usage":{},"error":{}}',
    '{"choices":[],"prompt_filter_results":[],"usage":{}}',
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

  it('in any stream of anything', () => {
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

  it('whole chunks without a copy', () => {
    const chunk = Buffer.from(before);
    expect(createUsageFilter().push(chunk)).toEqual([chunk]);
    expect(createUsageFilter().push(chunk)[0]).toBe(chunk);
  });
});

describe('an event is held back only while it may still be the one', () => {
  const held = (text: string) => {
    const filter = createUsageFilter();
    const sent = Buffer.concat([...filter.push(Buffer.from(text))]).length;
    return Buffer.byteLength(text) - sent;
  };

  it.each([
    ['data: [DONE', 0],
    ['data: {"id":"x","choices":[{', 0],
    ['data: {"error"', 0],
    ['data: {"choices":[],"usage":n', 0],
    ['data: {"id":"x","created":1,"choi', 33],
    ['data: {"choices":[', 18],
    [`${done}data`, 4],
  ])('%s', (text, bytes) => expect(held(text)).toBe(bytes));

  it('and never more of it than a mebibyte', () => {
    const filter = createUsageFilter();
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
    const kept = blocks.filter((block) => {
      const data = block.trim().replace(/^data: ?/, '');
      if (!data.startsWith('{')) return true;
      const parsed = JSON.parse(data);
      const known = /^(id|object|created|model|system_fingerprint|service_tier|usage|choices|obfuscation)$/;
      return !(
        parsed.choices?.length === 0 &&
        parsed.usage &&
        Object.keys(parsed).every((key) => known.test(key))
      );
    });
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
});
