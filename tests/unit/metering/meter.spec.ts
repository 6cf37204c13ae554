import { describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import type { Meter } from '#lib/core/metering/meter';
import { usageOf } from '#lib/core/metering/usage';
import { MAX_ANSWER_BYTES } from '#lib/core/metering/whole-meter';
import { askChat } from '#tests/unit/families/make';
import { createMeter } from '#tests/unit/metering/make';
import {
  after,
  before,
  cuts,
  lineEnds,
  recordings,
  usageEvent,
  withLineEnd,
} from '#tests/unit/relay/streams';

const streamAsk = askChat({ model: 'm', stream: true });
const wholeAsk = askChat({ model: 'm' });
const sse = { contentType: 'text/event-stream; charset=utf-8' };
const json = { contentType: 'application/json' };

function meterAll(meter: Meter, pieces: readonly Uint8Array[]): Meter {
  for (const piece of pieces) meter.push(piece);
  meter.end();
  return meter;
}
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

describe('a streamed answer is metered', () => {
  it.each(lineEnds)('in the same way wherever it is cut, with %s', (_name, lineEnd) => {
    const stream = withLineEnd(before + usageEvent + after, lineEnd);
    for (const pieces of cuts(stream)) {
      const meter = meterAll(createMeter(chat, streamAsk, sse), pieces);
      expect(meter.report()).toEqual({
        usage: usageOf({ input: 11, output: 7 }),
        serviceTier: 'default',
        nested: [],
        flags: [],
      });
      expect([meter.events, meter.state()]).toEqual([8, 'complete']);
      expect(meter.outputBytes).toBe(Buffer.byteLength('grüße 👋 "choices":[]b'));
    }
  });

  it('a stream is metered as far as it came', () => {
    const meter = createMeter(chat, streamAsk, sse);
    meter.push(bytes('data: {"choices":[{"delta":{"content":"abcd"}}]}\n\ndata: {"choi'));
    meter.end();
    expect([meter.report(), meter.outputBytes, meter.state(), meter.events]).toEqual([null, 4, 'cut', 2]);
  });

  it('the last event of a stream counts even if its blank line is missing', () => {
    const meter = meterAll(createMeter(chat, streamAsk, sse), [bytes(`${usageEvent}data: [DONE]`)]);
    expect([meter.state(), meter.report()?.usage.input]).toEqual(['complete', 11]);
  });

  it('the meter asks for a checkpoint after the push that carried usage, the end or an error', () => {
    const meter = createMeter(chat, streamAsk, sse);
    const told = ['data: {"choices":[]}\n\n', usageEvent, ': c\n\n', 'data: [DONE]\n\n', ': c\n\n'].map(
      (text) => {
        meter.push(bytes(text));
        return meter.takeTerminal();
      },
    );
    expect(told).toEqual([false, true, false, true, false]);
    const failing = createMeter(chat, streamAsk, sse);
    failing.push(bytes('event: error\ndata: {"error":{}}\n\n'));
    expect([failing.takeTerminal(), failing.failed]).toEqual([true, true]);
  });

  it('a stream is flagged when an event was too long to be read', () => {
    const meter = createMeter(chat, streamAsk, sse);
    meter.push(Buffer.concat([bytes('data: '), Buffer.alloc(9 * 2 ** 20, 0x78)]));
    expect(meter.flags).toEqual(['answer_too_long']);
  });
});

describe('a whole answer is metered', () => {
  const answer = {
    choices: [{ message: { content: 'grüße' } }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    service_tier: 'flex',
  };

  it('a whole answer is metered at its end, wherever it is cut', () => {
    for (const pieces of cuts(bytes(answer))) {
      const meter = createMeter(chat, wholeAsk, json);
      for (const piece of pieces) meter.push(piece);
      expect(meter.report()).toBeNull();
      meter.end();
      expect(meter.report()).toMatchObject({ usage: usageOf({ input: 3, output: 2 }), serviceTier: 'flex' });
      expect([meter.outputBytes, meter.state(), meter.failed, meter.events]).toEqual([
        7,
        'complete',
        false,
        0,
      ]);
    }
  });

  it('a whole answer that was cut short or is not JSON counts with all its bytes', () => {
    const meter = meterAll(createMeter(chat, wholeAsk, json), [bytes('{"choices":[{"mess')]);
    expect([meter.report(), meter.outputBytes, meter.state()]).toEqual([null, 18, 'cut']);
  });

  it('a whole answer with an error has failed, and its usage still counts', () => {
    const told = (body: object) => {
      const meter = meterAll(createMeter(chat, wholeAsk, json), [bytes(body)]);
      return [meter.state(), meter.failed, meter.report()?.usage.input];
    };
    expect(told({ error: { message: 'x' } })).toEqual(['error', true, undefined]);
    expect(told({ ...answer, error: {} })).toEqual(['error', true, 3]);
    expect(told({ ...answer, error: null })).toEqual(['complete', false, 3]);
  });

  it('a whole answer may have any length if that is due to its pictures, which are not kept', () => {
    const meter = createMeter(chat, wholeAsk, json);
    meter.push(bytes('{"picture":"'));
    const piece = Buffer.alloc(2 ** 16, 'QUJD');
    for (let i = 0; i < 1_000; i++) meter.push(piece);
    meter.push(bytes(`",${JSON.stringify(answer).slice(1)}`));
    meter.end();
    expect([meter.report()?.usage.input, meter.state(), meter.flags]).toEqual([3, 'complete', []]);
  });

  it('a whole answer is read up to 32 MiB, and flagged beyond', () => {
    const meter = createMeter(chat, wholeAsk, json);
    const piece = Buffer.alloc(2 ** 20, ' "",');
    for (let i = 0; i < 33; i++) meter.push(piece);
    meter.push(bytes(answer));
    meter.end();
    expect(meter.report()).toBeNull();
    expect([meter.flags, meter.state()]).toEqual([['answer_too_long'], 'unread']);
    expect(meter.outputBytes).toBeGreaterThan(MAX_ANSWER_BYTES);
  });
});

describe('how an answer is read', () => {
  const whole = bytes({ choices: [], usage: { prompt_tokens: 3 } });
  const stream = bytes(usageEvent);
  it.each([
    ['a stream that was not asked for', wholeAsk, { contentType: 'Text/Event-Stream' }, stream, 11],
    [
      'a whole body in place of a stream',
      streamAsk,
      { contentType: 'application/json; charset=utf-8' },
      whole,
      3,
    ],
    ['a stream without a type', streamAsk, {}, stream, 11],
    ['a body without a type', wholeAsk, { contentType: null }, whole, 3],
    ['a body with a vague type', wholeAsk, { contentType: 'text/plain' }, whole, 3],
    [
      'a vague type, said to be a stream',
      wholeAsk,
      { contentType: 'text/plain', streamed: true },
      stream,
      11,
    ],
  ])('depends on its content type: %s', (_name, ask, answer, body, input) => {
    expect(meterAll(createMeter(chat, ask, answer), [body]).report()?.usage.input).toBe(input);
  });
});

describe.skipIf(recordings().length === 0)('recorded answers have the usage that was recorded', () => {
  it.each(recordings().map((one) => [one.file, one] as const))('%s', (_file, recording) => {
    const { norm, stream, body } = recording;
    const meter = meterAll(createMeter(chat, stream ? streamAsk : wholeAsk, stream ? sse : json), [body]);
    const report = meter.report();
    if (norm === null) {
      expect(report).toBeNull();
      return;
    }
    // Audio beside the prompt becomes input; hidden reasoning becomes output.
    const beside = (norm.audio_in ?? 0) > (norm.input_total ?? 0) ? (norm.audio_in ?? 0) : 0;
    const total = /"total_tokens":\s*(\d+)/g;
    const last = [...body.toString().matchAll(total)].at(-1)?.[1];
    const shown = Number(last ?? 0) - (norm.input_total ?? 0) - beside;
    expect(report?.usage).toEqual(
      usageOf({
        input: (norm.input_uncached ?? 0) + beside,
        cachedInput: norm.cache_read ?? 0,
        cacheWrite5m: norm.cache_write ?? 0,
        output: Math.max(norm.output ?? 0, shown),
        reasoning: norm.reasoning ?? 0,
        audioInput: norm.audio_in ?? 0,
        audioOutput: norm.audio_out ?? 0,
      }),
    );
    expect(report?.flags).toEqual([]);
    if (!stream && recording.service_tier) expect(report?.serviceTier).toBe(recording.service_tier);
  });

  const streams = recordings().filter(({ stream, body }) => stream && body.length < 30_000);
  it.each(streams.map((one) => [one.file, one] as const))('however it is cut: %s', (_file, { body }) => {
    const lines = body.toString();
    const whole = meterAll(createMeter(chat, streamAsk, sse), [body]);
    for (const [, lineEnd] of lineEnds) {
      const stream = withLineEnd(lines, lineEnd);
      const step = Math.max(1, Math.floor(stream.length / 40));
      const some = Array.from({ length: 40 }, (_, i) => [
        stream.subarray(0, i * step),
        stream.subarray(i * step),
      ]);
      const bytewise = Array.from({ length: stream.length }, (_, i) => stream.subarray(i, i + 1));
      for (const pieces of [...some, bytewise]) {
        const meter = meterAll(createMeter(chat, streamAsk, sse), pieces);
        expect(meter.report()).toEqual(whole.report());
        expect([meter.events, meter.state(), meter.outputBytes]).toEqual([
          whole.events,
          whole.state(),
          whole.outputBytes,
        ]);
      }
    }
  });
});
