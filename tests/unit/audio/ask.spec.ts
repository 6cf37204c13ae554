import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readAsk } from '#lib/control/operations/route/ask';
import { isRefusal } from '#lib/core/errors';
import type { Ask, Family } from '#lib/core/families/family';
import { scan } from '#lib/core/families/scan';
import { speech } from '#lib/core/families/speech';
import { transcriptions } from '#lib/core/families/transcriptions';
import { createReading } from '#lib/core/metering/create-meter';
import { readFilePrice } from '#lib/core/schemas/price';
import { estimate } from '#lib/gateway/admission/pure/estimate';
import type { Target } from '#lib/gateway/routing/pure/target';

const terms = { keyMaximum: null, strict: false, previousTokens: 0 };

function targetOf(price: Parameters<typeof readFilePrice>[0], output: readonly string[]): Target {
  const model = { contextTokens: 0, maxOutputTokens: 0, output };
  // Only the parts that an estimate reads are made.
  return { model, price: { price: readFilePrice(price) }, pool: [] } as unknown as Target;
}

function spoken(body: object): Ask {
  const [operation] = speech.operations;
  const scanned = scan(Buffer.from(JSON.stringify({ model: 'm', ...body })), operation?.fields ?? {});
  if (!operation || 'fault' in scanned) throw new Error('no ask');
  const ask = speech.readAsk({ operation, params: {}, scan: scanned });
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}

function heard(file: { bytes: number; audioMs: number | null }): Ask {
  const [operation] = transcriptions.operations;
  if (!operation) throw new Error('no operation');
  const model = {
    path: 'model',
    spelling: 'model',
    type: 'string',
    value: 'm',
    start: 0,
    end: 1,
    empty: false,
  } as const;
  const upload = {
    bytes: file.bytes + 300,
    textBytes: 1,
    files: [{ mediaType: null, bytes: file.bytes, field: 'file', start: 200 }],
    audioMs: file.audioMs,
    read: async function* () {},
  };
  const scanned = {
    body: new Uint8Array(),
    root: { start: 0, end: 0, empty: true },
    found: new Map([['model', model]]),
    nulls: new Map(),
    collected: [],
    longStrings: [],
    upload,
  };
  const ask = transcriptions.readAsk({ operation, params: {}, scan: scanned });
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}

describe('the hold of audio (contract: money/audio-hold)', () => {
  it.each([
    ['characters', { input: 'ñandú' }, { characters: '15' }, 5n * 15_000n],
    ['100 ms for each byte', { input: 'ñandú' }, { audioHour: '0.36' }, 700n * 100n],
    [
      'four times as long at a quarter of the speed',
      { input: 'abcde', speed: 0.25 },
      { audioHour: '0.36' },
      2_000n * 100n,
    ],
    [
      'no longer at a speed that no provider has',
      { input: 'abcde', speed: 0.001 },
      { audioHour: '0.36' },
      2_000n * 100n,
    ],
  ])('of speech is that of its %s', (_name, body, price, nano) => {
    expect(estimate(spoken(body), [targetOf(price, ['audio'])], terms).holdNano).toBe(nano);
  });

  it('of speech by token is 20 tokens for each second', () => {
    const ask = spoken({ input: 'a'.repeat(100) });
    const held = estimate(ask, [targetOf({ input: '0.6', output: '12' }, ['audio'])], terms);
    expect(held.outputTokens).toBe(200);
    expect(held.holdNano).toBe(BigInt(held.inputTokens) * 600n + 200n * 12_000n);
  });

  it.each([
    ['the length that its file says', { bytes: 400_000, audioMs: 12_500 }, 12_500n * 100n],
    [
      'a millisecond for each byte of a file that says none',
      { bytes: 400_000, audioMs: null },
      400_000n * 100n,
    ],
  ])('of a transcript is that of %s', (_name, file, nano) => {
    expect(estimate(heard(file), [targetOf({ audioHour: '0.36' }, ['text'])], terms).holdNano).toBe(nano);
  });

  it('of a transcript by token is 12.5 tokens for each second that is read, and 30 that are written', () => {
    const price = { input: '2.5', audioInput: '6', output: '10' };
    const held = estimate(heard({ bytes: 9, audioMs: 100_000 }), [targetOf(price, ['text'])], terms);
    expect(held).toMatchObject({ inputTokens: 1_251, outputTokens: 3_000 });
    expect(held.holdNano).toBe(2_500n + 1_250n * 6_000n + 3_000n * 10_000n);
  });

  it('of several targets is that of the most expensive', () => {
    const targets = [targetOf({ characters: '15' }, ['audio']), targetOf({ characters: '30' }, ['audio'])];
    expect(estimate(spoken({ input: 'abc' }), targets, terms).holdNano).toBe(90_000n);
  });
});

describe('a plan without a request', () => {
  it.each([speech, transcriptions])('has the least ask of the family $id', (family) => {
    expect(readAsk(family, 'sandbox/model', undefined)).toMatchObject({ model: 'sandbox/model' });
  });
});

describe('how an answer is read, by its Content-Type', () => {
  const json = { contentType: 'application/json' };
  const as = (family: Family, ask: Ask, answer: Parameters<typeof createReading>[2]) => {
    const { framing, plain = false } = createReading(family, ask, answer);
    return plain ? 'plain' : framing;
  };
  const text = () => {
    const ask = heard({ bytes: 9, audioMs: 5 });
    const format = {
      path: 'response_format',
      spelling: '',
      type: 'string',
      value: 'text',
      start: 0,
      end: 0,
      empty: false,
    };
    return { ...ask, scan: { ...ask.scan, found: new Map([['response_format', format]]) } } as Ask;
  };

  it.each([
    ['audio/mpeg', 'plain'],
    ['application/octet-stream', 'plain'],
    ['', 'plain'],
    ['application/json', 'whole'],
    ['text/html', 'whole'],
    ['text/event-stream', 'events'],
  ])('speech of %s: %s', (contentType, expected) => {
    expect(as(speech, spoken({ input: 'a' }), { contentType })).toBe(expected);
  });

  it.each([
    ['text/event-stream; charset=utf-8', 'events'],
    ['', 'events'],
    ['audio/wav', 'plain'],
  ])('speech that was asked for as events, of %s: %s', (contentType, expected) => {
    expect(as(speech, spoken({ input: 'a', stream_format: 'sse' }), { contentType })).toBe(expected);
  });

  it('a transcript as JSON, or as text if that was asked for', () => {
    expect(as(transcriptions, heard({ bytes: 9, audioMs: 5 }), json)).toBe('whole');
    expect(as(transcriptions, heard({ bytes: 9, audioMs: 5 }), { contentType: 'text/plain' })).toBe('whole');
    expect(as(transcriptions, text(), { contentType: 'text/plain; charset=utf-8' })).toBe('plain');
    expect(as(transcriptions, text(), json)).toBe('whole');
  });
});

describe('usage of speech (contract: money/audio-charge)', () => {
  const read = (name: string) => {
    const { meter } = createReading(speech, spoken({ input: 'abcde' }), { contentType: 'audio/x' });
    expect([meter.report(), meter.state()]).toEqual([null, 'empty']);
    meter.push(readFileSync(new URL(`samples/${name}`, import.meta.url)));
    meter.end();
    expect(meter.state()).toBe('complete');
    return { report: meter.report(), outputBytes: meter.outputBytes };
  };

  it('is its characters, and the length of the audio that came', () => {
    const { report, outputBytes } = read('tone.wav');
    expect(report).toMatchObject({ usage: { characters: 5, audioMs: 500 }, flags: ['usage_counted'] });
    expect(report?.unread).toBeUndefined();
    expect(outputBytes).toBe(10 * 4);
  });

  it('is estimated by the text, if the audio does not say its length', () => {
    const { report, outputBytes } = read('fragments.mp4');
    expect(report).toMatchObject({ usage: { characters: 5, audioMs: 500 }, unread: ['input', 'output'] });
    expect(outputBytes).toBe(10 * 4);
  });
});

describe('usage of a transcript (contract: money/audio-charge)', () => {
  const read = (answer: unknown, audioMs: number | null = 900) =>
    transcriptions.readUsage(heard({ bytes: 400, audioMs }), answer);

  it.each([
    ['seconds', { usage: { type: 'duration', seconds: 12.5 } }, { audioMs: 12_500 }, []],
    ['seconds in a string', { usage: { type: 'duration', seconds: '9' } }, { audioMs: 9_000 }, []],
    ['the duration of the answer', { duration: 8.470000095367432 }, { audioMs: 8_470 }, []],
    ['the duration in a string', { duration: '8.47' }, { audioMs: 8_470 }, []],
    ['the length of the file', { text: 'a' }, { audioMs: 900 }, ['usage_counted']],
    [
      'the same, if seconds cannot be read',
      { usage: { type: 'duration', seconds: 'nine' } },
      { audioMs: 900 },
      ['usage_unreadable'],
    ],
    [
      'the same, if seconds are negative',
      { usage: { type: 'duration', seconds: -9 } },
      { audioMs: 900 },
      ['usage_negative'],
    ],
    [
      'tokens',
      {
        usage: {
          type: 'tokens',
          input_tokens: 14,
          input_token_details: { audio_tokens: 10, text_tokens: 4 },
          output_tokens: 7,
        },
      },
      { input: 14, audioInput: 10, output: 7, audioMs: 900 },
      [],
    ],
    [
      'tokens without their type',
      { usage: { input_tokens: 14, output_tokens: 7 } },
      { input: 14, audioInput: 0, output: 7 },
      [],
    ],
    ['nothing more, if usage is null', { usage: null }, { audioMs: 900 }, ['usage_counted']],
  ])('is %s', (_name, answer, usage, flags) => {
    const report = read(answer);
    expect(report?.usage).toMatchObject(usage);
    expect(report?.flags).toEqual(flags);
  });

  it('is unknown if neither answer nor file says anything', () => {
    expect(read({ text: 'a' }, null)).toBeNull();
    expect(read(['a'])).toBeNull();
  });
});
