import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventSplitter, type SseEvent } from '#lib/core/relay/sse';
import { after, before, cuts, lineEnds, usageEvent, withLineEnd } from '#tests/unit/relay/streams';

function split(pieces: readonly Uint8Array[], splitter = new EventSplitter()): SseEvent[] {
  const events = pieces.flatMap((piece) => [...splitter.push(piece)]);
  const last = splitter.flush();
  return last ? [...events, last] : events;
}
const read = (text: string) => split([Buffer.from(text)]).map(({ name, data }) => [name, data]);

describe('a stream is cut into events', () => {
  it.each([
    ['data: a\n\n', [[null, 'a']]],
    ['data:a\r\n\r\n', [[null, 'a']]],
    ['data:  a\r\r', [[null, ' a']]],
    ['event: e\ndata: a\n\n', [['e', 'a']]],
    ['event:e\r\ndata: a\r\ndata:b\r\n\r\n', [['e', 'a\nb']]],
    ['data\ndata: a\n\n', [[null, '\na']]],
    ['data\n\n', []],
    ['data: \n\n', []],
    ['event: e\n\ndata: a\n\n', [[null, 'a']]],
    [': comment\n\n: more\ndata: a\n: even inside\n\n', [[null, 'a']]],
    ['id: 1\nretry: 5\ndatax: no\n data: no\ndata: a\n\n', [[null, 'a']]],
    ['\ufeffdata: a\n\n\ufeffdata: b\n\n', [[null, 'a']]],
    [
      '\n\n\ndata: a\n\n\n\ndata: b\n\n',
      [
        [null, 'a'],
        [null, 'b'],
      ],
    ],
    [
      'data: a\n\ndata: b',
      [
        [null, 'a'],
        [null, 'b'],
      ],
    ],
    [
      'data: a\n\ndata: [DONE]\n',
      [
        [null, 'a'],
        [null, '[DONE]'],
      ],
    ],
    ['event: e\nevent:\ndata: a\n\n', [[null, 'a']]],
    ['', []],
  ])('%j', (text, expected) => expect(read(text)).toEqual(expected));

  it('every event’s range covers its own bytes', () => {
    const stream = Buffer.from(': c\r\n\r\ndata: a\r\n\r\nevent: x\r\ndata: é\r\n\r\ndata: c');
    const events = split([stream]);
    expect(events.map(({ start, end }) => stream.toString('utf8', start, end).trim())).toEqual([
      'data: a',
      'event: x\r\ndata: é',
      'data: c',
    ]);
  });

  it.each(lineEnds)('in the same way wherever it is cut, with %s', (_name, lineEnd) => {
    const stream = withLineEnd(before + usageEvent + after, lineEnd);
    const whole = split([stream]).map(({ name, data, start }) => [name, data, start]);
    expect(whole.length).toBe(8);
    for (const pieces of cuts(stream)) {
      expect(split(pieces).map(({ name, data, start }) => [name, data, start])).toEqual(whole);
    }
  });

  it('a stream is cut into the same events as by a reader of the whole text, for any bytes', () => {
    const token = fc.constantFrom(
      '\n',
      '\r',
      '\r\n',
      'data:',
      'data: ',
      'event: ',
      ':',
      'x',
      'é',
      ' ',
      '\n\n',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 30 }), fc.array(fc.nat(60)), (tokens, at) => {
        const bytes = Buffer.from(`${tokens.join('')}\n\n`);
        const bounds = [0, ...at.map((i) => i % bytes.length).sort((a, b) => a - b), bytes.length];
        const pieces = bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end));
        expect(split(pieces).map(({ name, data }) => [name, data])).toEqual(byTheBook(bytes.toString()));
      }),
      { numRuns: 3_000 },
    );
  });
});

/** The algorithm of the standard over the whole text, line by line. */
function byTheBook(text: string): (string | null)[][] {
  const events: (string | null)[][] = [];
  let name = '';
  let data: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === '') {
      const joined = data.join('\n');
      if (joined !== '') events.push([name || null, joined]);
      name = '';
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    if (field === 'event') name = value;
  }
  return events;
}

describe('an event that is too long', () => {
  it('an event that is too long is skipped and flagged, and the next one is read', () => {
    const splitter = new EventSplitter(100);
    const long = `data: ${'x'.repeat(300)}`;
    const pieces = [`${long}`, `${long}\ndata: tail\n\n`, 'data: b\n\n'].map((text) => Buffer.from(text));
    expect(split(pieces, splitter).map(({ data }) => data)).toEqual(['b']);
    expect(splitter.overflowed).toBe(true);
  });

  it('an event that is too long is not kept in memory', () => {
    const splitter = new EventSplitter(1000);
    const piece = Buffer.from('x'.repeat(500));
    splitter.push(Buffer.from('data: '));
    for (let i = 0; i < 10_000; i++) splitter.push(piece);
    expect(splitter.overflowed).toBe(true);
    expect(splitter.push(Buffer.from('\n\ndata: a\n\n')).map(({ data }) => data)).toEqual(['a']);
  });

  it('an event is not too long because of its picture, which is left out from 4 MiB on', () => {
    const splitter = new EventSplitter();
    const head = 'data: {"type":"completed","b64_json":"';
    const pictures = Array.from({ length: 500 }, () => Buffer.alloc(2 ** 16, 'QUJD'));
    const pieces = [Buffer.from(head), ...pictures, Buffer.from('","usage":{"total":7}}\n\n')];
    const [event] = split(pieces, splitter);
    expect(JSON.parse(event?.data ?? '')).toMatchObject({ type: 'completed', usage: { total: 7 } });
    expect(event?.end).toBe(pieces.reduce((sum, { length }) => sum + length, 0));
    expect(splitter.overflowed).toBe(false);
    expect(event?.data.length).toBeLessThan(5 * 2 ** 20);
  });

  it('an event of 3 MB on one line is not too long', () => {
    const data = 'A'.repeat(3_000_000);
    const stream = Buffer.from(`data: ${data}\n\n`);
    const pieces = Array.from({ length: 200 }, (_, i) => stream.subarray(i * 16_384, (i + 1) * 16_384));
    expect(split(pieces)[0]?.data.length).toBe(3_000_000);
  });
});
