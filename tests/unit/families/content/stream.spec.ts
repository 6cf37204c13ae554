import { describe, expect, it } from 'vitest';
import { generateContent } from '#lib/core/families/generate-content';
import type { Meter } from '#lib/core/metering/meter';
import { usageOf } from '#lib/core/metering/usage';
import { ElementSplitter } from '#lib/core/relay/elements';
import { askContent } from '#tests/unit/families/content/make';
import { createMeter } from '#tests/unit/metering/make';
import { cuts, lineEnds, recordings, withLineEnd } from '#tests/unit/relay/streams';

const streamAsk = askContent({}, 'stream');
const wholeAsk = askContent();
const sse = { contentType: 'text/event-stream' };
const json = { contentType: 'application/json; charset=UTF-8' };

const chunk = (text: string, rest: object = {}, finishReason?: string) => ({
  candidates: [
    { content: { parts: [{ text }], role: 'model' }, index: 0, ...(finishReason ? { finishReason } : {}) },
  ],
  ...rest,
});
const usage = (candidatesTokenCount: number, rest: object = {}) => ({
  usageMetadata: { promptTokenCount: 11, candidatesTokenCount, ...rest },
});
/** With everything that a scanner could take for the end of an element. */
const chunks = [
  chunk('grüße 👋 "}]\\', usage(2)),
  chunk('{[,"', usage(9)),
  { candidates: [], usageMetadata: { serviceTier: 'standard' } },
  chunk('b', usage(7, { thoughtsTokenCount: 3 }), 'STOP'),
];
const textBytes = Buffer.byteLength('grüße 👋 "}]\\{[,"b');
const events = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
const array = `[${chunks.map((one) => JSON.stringify(one, null, 2)).join('\n,\r\n')}\n]\n`;

function meterAll(meter: Meter, pieces: readonly Uint8Array[]): Meter {
  for (const piece of pieces) meter.push(piece);
  meter.end();
  return meter;
}
const facts = (meter: Meter) => [
  meter.report(),
  meter.events,
  meter.state(),
  meter.failed,
  meter.outputBytes,
  meter.flags,
];
const report = {
  usage: usageOf({ input: 11, output: 10, reasoning: 3 }),
  serviceTier: null,
  nested: [],
  flags: [],
};

describe('a stream of the generate-content family is metered in the same way wherever it is cut', () => {
  it.each(lineEnds)('as SSE with %s', (_name, lineEnd) => {
    for (const pieces of cuts(withLineEnd(events, lineEnd), 1)) {
      const meter = meterAll(createMeter(generateContent, streamAsk, sse), pieces);
      expect(facts(meter)).toEqual([report, 4, 'complete', false, textBytes, []]);
    }
  });

  it.each([
    ['pretty-printed', array],
    ['compact', JSON.stringify(chunks)],
    ['with spaces', ` \r\n[ ${chunks.map((one) => JSON.stringify(one)).join(' , ')} ] `],
  ])('as an array, %s', (_name, text) => {
    for (const pieces of cuts(Buffer.from(text), 1)) {
      const meter = meterAll(createMeter(generateContent, streamAsk, json), pieces);
      expect(facts(meter)).toEqual([report, 4, 'complete', false, textBytes, []]);
    }
  });

  it('a streamed array has the usage of its newest element at every moment', () => {
    const meter = createMeter(generateContent, streamAsk, json);
    const outputs = chunks.map((one, index) => {
      meter.push(Buffer.from(`${index === 0 ? '[' : ',\r\n'}${JSON.stringify(one)}`));
      return [meter.report()?.usage.output, meter.state()];
    });
    expect(outputs).toEqual([
      [2, 'cut'],
      [9, 'cut'],
      [9, 'cut'],
      [10, 'complete'],
    ]);
  });

  it('a stream is worth a checkpoint when usage is first reported and when the answer ends', () => {
    const meter = createMeter(generateContent, streamAsk, json);
    const told = chunks.map((one) => {
      meter.push(Buffer.from(JSON.stringify(one)));
      return meter.takeTerminal();
    });
    expect(told).toEqual([true, false, false, true]);
  });
});

describe('a stream of the generate-content family', () => {
  const told = (ask: ReturnType<typeof askContent>, ...said: readonly unknown[]) => {
    const reader = generateContent.streamReader(ask);
    for (const one of said) reader.event(null, typeof one === 'string' ? one : JSON.stringify(one));
    return reader;
  };

  it('a stream ends when every candidate gave its reason, by name or by number, or when the prompt is blocked', () => {
    const two = askContent({ generationConfig: { candidateCount: 2 } }, 'stream');
    const first = chunk('a', {}, 'STOP');
    const second = { candidates: [{ index: 1, finishReason: 2 }] };
    expect(told(two, first).finished).toBe(false);
    expect(told(two, first, { candidates: [{ index: 1, finishReason: 0 }] }).finished).toBe(false);
    expect(told(two, first, second).finished).toBe(true);
    const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } };
    expect(told(streamAsk, blocked).finished).toBe(true);
    expect(told(streamAsk, blocked).report()?.usage).toEqual(usageOf({ input: 4 }));
  });

  it('a stream has failed when the provider put an error into it, by itself or in a list', () => {
    const error = { error: { code: 503, message: 'x', status: 'UNAVAILABLE' } };
    expect(told(streamAsk, chunk('a'), error).failed).toBe(true);
    expect(told(streamAsk, [error]).failed).toBe(true);
    expect(told(streamAsk, chunk('a', { error: null })).failed).toBe(false);
  });

  it('the last usage object counts as a whole; what it leaves out is not merged', () => {
    const last = { usageMetadata: { promptTokenCount: 87, thoughtsTokenCount: 78, totalTokenCount: 165 } };
    expect(told(streamAsk, chunk('a', usage(15)), last).report()?.usage).toEqual(
      usageOf({ input: 87, output: 78, reasoning: 78 }),
    );
  });

  it('a search counts once, however often it is reported', () => {
    const grounded = { candidates: [{ index: 0, groundingMetadata: { webSearchQueries: ['', 'a'] } }] };
    const reader = told(streamAsk, chunk('a', usage(1)), grounded, grounded);
    expect(reader.report()?.usage.webSearches).toBe(1);
  });

  it('a stream returns the same report until something new is reported, and survives nonsense', () => {
    const reader = told(streamAsk, chunk('ab', usage(1)));
    const first = reader.report();
    for (const odd of [
      '',
      'not json',
      '5',
      'null',
      '[1]',
      '[]',
      '{"candidates":{}}',
      '{"candidates":[null]}',
    ])
      reader.event(null, odd);
    expect(reader.report()).toBe(first);
    expect([reader.outputBytes, reader.finished, reader.failed]).toEqual([2, false, false]);
  });
});

describe('a streamed array (contract: families/streams)', () => {
  const read = (text: string) =>
    facts(meterAll(createMeter(generateContent, streamAsk, json), [Buffer.from(text)]));

  it('a streamed array that is cut is read as far as its elements came', () => {
    const cut = array.slice(0, array.indexOf('"serviceTier"'));
    expect(read(cut)).toEqual([
      { ...report, soFar: true, usage: usageOf({ input: 11, output: 9 }) },
      2,
      'cut',
      false,
      Buffer.byteLength('grüße 👋 "}]\\{[,"'),
      [],
    ]);
  });

  it('a streamed array counts with all its bytes if it is not JSON, and says nothing without a whole element', () => {
    expect(read('[{"candidates":[{"content"')).toEqual([null, 0, 'cut', false, 0, []]);
    expect(read('no JSON at all')).toEqual([null, 0, 'cut', false, 14, []]);
    expect(read('\x1f{"a":1}[2] {}')).toEqual([null, 0, 'cut', false, 14, []]);
    expect(read('[]')).toEqual([null, 0, 'cut', false, 0, []]);
  });

  it('a single object is read like a streamed array', () => {
    expect(read(JSON.stringify(chunks[3]))).toEqual([report, 1, 'complete', false, 1, []]);
  });

  it('an element is kept only up to the limit, and the next ones are read', () => {
    const splitter = new ElementSplitter(20);
    const long = Buffer.from(`[{"a":"${'x'.repeat(40)}"},{"b":1}`);
    const found = Array.from(long, (_, i) => splitter.push(long.subarray(i, i + 1))).flat();
    expect(found).toEqual([{ name: null, data: '{"b":1}' }]);
    expect(splitter.overflowed).toBe(true);
    const meter = createMeter(generateContent, streamAsk, json);
    meter.push(Buffer.from('[{"a":"'));
    for (let i = 0; i < 9; i++) meter.push(Buffer.alloc(2 ** 20, 0x78));
    expect(meter.flags).toEqual(['answer_too_long']);
  });

  it('a JSON array is a stream only if a stream was requested', () => {
    const whole = meterAll(createMeter(generateContent, wholeAsk, json), [
      Buffer.from(JSON.stringify(chunks[3])),
    ]);
    expect(facts(whole)).toEqual([report, 0, 'complete', false, 1, []]);
  });
});

const recorded = recordings(['generateContent', 'generateContent-vertex']);

describe.skipIf(recorded.length === 0)('recorded answers have the usage that was recorded', () => {
  const isArray = (body: Buffer) => body.toString('latin1', 0, 1) === '[';
  const meterOf = ({ stream, body }: { stream: boolean; body: Buffer }) =>
    createMeter(generateContent, stream ? streamAsk : wholeAsk, stream && !isArray(body) ? sse : json);

  it.each(recorded.map((one) => [one.file, one] as const))('%s', (_file, recording) => {
    const { norm, body } = recording;
    const read = meterAll(meterOf(recording), [body]).report();
    if (norm === null) {
      expect(read).toBeNull();
      return;
    }
    const raw = JSON.stringify(body.toString());
    expect(read?.usage).toEqual(
      usageOf({
        input: norm.input_uncached ?? 0,
        cachedInput: norm.cache_read ?? 0,
        output: norm.output ?? 0,
        reasoning: norm.reasoning ?? 0,
        audioInput: norm.audio_in ?? 0,
        audioOutput: norm.audio_out ?? 0,
        imageInput: norm.image_in ?? 0,
        webSearches: raw.includes('largest city in Mexico\\"]') ? 1 : 0,
      }),
    );
    expect(read?.flags).toEqual([]);
    expect(read?.serviceTier ?? 'standard').toBe('standard');
  });

  const streams = recorded.filter(({ stream }) => stream);
  it.each(streams.map((one) => [one.file, one] as const))('however it is cut: %s', (_file, recording) => {
    const { body } = recording;
    const whole = facts(meterAll(meterOf(recording), [body]));
    expect(whole[2]).toBe('complete');
    const framings = isArray(body) ? [body] : lineEnds.map(([, end]) => withLineEnd(body.toString(), end));
    for (const bytes of framings) {
      for (const pieces of cuts(bytes, Math.max(1, Math.floor(bytes.length / 500)))) {
        expect(facts(meterAll(meterOf(recording), pieces))).toEqual(whole);
      }
    }
  });
});
