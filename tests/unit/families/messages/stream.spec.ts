import { describe, expect, it } from 'vitest';
import { messages } from '#lib/core/families/messages';
import { totalUsage, type UsageReport, usageOf } from '#lib/core/metering/usage';
import { askMessages } from '#tests/unit/families/messages/make';
import { createMeter } from '#tests/unit/metering/make';
import { cuts, lineEnds, recordings, withLineEnd } from '#tests/unit/relay/streams';

const ask = askMessages({ model: 'm', stream: true });
const event = (payload: { readonly type: string }) =>
  `event: ${payload.type}\ndata: ${JSON.stringify(payload)}  \n\n`;

const start = (usage: object | null, id = 'msg_1') => ({
  type: 'message_start',
  message: { id, type: 'message', content: [], usage },
});
const started = {
  input_tokens: 2_697,
  cache_read_input_tokens: 55_096,
  cache_creation_input_tokens: 100,
  cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 },
  output_tokens: 1,
  service_tier: 'standard',
};
const text = (words: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: words },
});
const ended = (usage?: object | null) => ({
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage,
});
const stop = { type: 'message_stop' };

const sample = [
  start(started),
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  text('grüße 👋'),
  { type: 'novelty', usage: { output_tokens: 9_999 } },
  { type: 'content_block_stop', index: 0 },
  ended({
    input_tokens: 12_251,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 100,
    output_tokens: 153,
    server_tool_use: { web_search_requests: 1 },
  }),
  stop,
]
  .map(event)
  .join('');
const sampleUsage = usageOf({
  input: 12_251,
  cacheWrite5m: 40,
  cacheWrite1h: 60,
  output: 153,
  webSearches: 1,
});

function meterOf(pieces: readonly Uint8Array[]) {
  const meter = createMeter(messages, ask, { contentType: 'text/event-stream' });
  for (const piece of pieces) meter.push(piece);
  meter.end();
  return meter;
}
const meterEvents = (...payloads: { readonly type: string }[]) =>
  meterOf([Buffer.from(payloads.map(event).join(''))]);

describe('a messages stream', () => {
  it.each(lineEnds)(
    'a messages stream reports the same usage wherever it is cut, with %s',
    (_name, lineEnd) => {
      for (const pieces of cuts(withLineEnd(sample, lineEnd), 1)) {
        const meter = meterOf(pieces);
        expect(meter.report()).toEqual({
          usage: sampleUsage,
          serviceTier: 'standard',
          nested: [],
          flags: [],
        });
        expect([meter.state(), meter.failed, meter.events]).toEqual(['complete', false, 8]);
        expect(meter.outputBytes).toBe(Buffer.byteLength('grüße 👋'));
      }
    },
  );

  it('every field that a delta reports counts, also a lower one; the others stay', () => {
    expect(
      meterEvents(start(started), ended({ output_tokens: 5, input_tokens: null })).report()?.usage,
    ).toEqual(usageOf({ input: 2_697, cachedInput: 55_096, cacheWrite5m: 40, cacheWrite1h: 60, output: 5 }));
    const lower = ended({
      input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      output_tokens: 2,
    });
    const report = meterEvents(start(started), lower).report();
    expect(report).toMatchObject({ usage: usageOf({ output: 2 }), flags: [] });
    expect(
      meterEvents(start(started), ended({ output_tokens: 9 }), ended({ output_tokens: 7 })).report()?.usage
        .output,
    ).toBe(7);
  });

  it('before a delta, the input is reported but not the output', () => {
    const open = meterEvents(start(started), text('abcd'));
    expect(open.report()).toMatchObject({ usage: { input: 2_697, output: 1 }, outputOpen: true });
    expect([open.outputBytes, open.state()]).toEqual([4, 'cut']);
    const told = meterEvents(start(started), ended({ output_tokens: 1 }));
    expect(told.report()).not.toHaveProperty('outputOpen');
    expect(meterEvents(start(null), text('abcd'), ended(null), stop).report()).toBeNull();
  });

  it('a checkpoint is requested when the output is reported, not when the stream starts', () => {
    const meter = createMeter(messages, ask, { contentType: 'text/event-stream' });
    const terminal = [start(started), text('a'), ended({ output_tokens: 3 }), stop].map((payload) => {
      meter.push(Buffer.from(event(payload)));
      return meter.takeTerminal();
    });
    expect(terminal).toEqual([false, false, true, true]);
  });

  it('a repeated start changes nothing, another message replaces the first', () => {
    const repeated = meterEvents(start(started), ended({ output_tokens: 227 }), start(started), stop);
    expect(repeated.report()).toMatchObject({ usage: { input: 2_697, output: 227 } });
    expect(repeated.report()).not.toHaveProperty('outputOpen');
    const spliced = meterEvents(
      start(started, 'msg_1'),
      text('abc'),
      start({ input_tokens: 17, output_tokens: 1 }, 'msg_2'),
      ended({ output_tokens: 65 }),
      stop,
    );
    expect(spliced.report()?.usage).toEqual(usageOf({ input: 17, output: 65 }));
  });

  it('a messages stream with an error event has failed, and still has its usage', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const failed = meterEvents(start(started), ended({ output_tokens: 4 }), error);
    expect([failed.failed, failed.state(), failed.report()?.usage.output]).toEqual([true, 'error', 4]);
    expect(meterOf([Buffer.from('event: error\ndata: not json\n\n')]).failed).toBe(true);
  });

  it('counts thinking, tool names and arguments as output, not signatures, citations or results', () => {
    const delta = (part: object) => ({ type: 'content_block_delta', index: 0, delta: part });
    const block = (part: object) => ({ type: 'content_block_start', index: 0, content_block: part });
    const meter = meterEvents(
      block({ type: 'thinking', thinking: '' }),
      delta({ type: 'thinking_delta', thinking: 'abc' }),
      delta({ type: 'signature_delta', signature: 'zzzz' }),
      block({ type: 'tool_use', id: 't', name: 'fn', input: {} }),
      delta({ type: 'input_json_delta', partial_json: '{"é":1}' }),
      block({ type: 'web_search_tool_result', content: [{ title: 'long' }] }),
      delta({ type: 'citations_delta', citation: { cited_text: 'long' } }),
    );
    expect(meter.outputBytes).toBe(3 + 2 + 8);
  });

  it('a broken messages stream ends with an error event of the family', () => {
    expect(
      messages.breakFrame({ code: 'upstream_request_failed', message: 'It "broke"' }, 7, undefined),
    ).toBe(
      'event: error\ndata: {"type":"error","error":{"message":"It \\"broke\\"","code":"upstream_request_failed"}}\n\n',
    );
  });

  it('a messages stream survives nonsense', () => {
    const odd = [
      '',
      'null',
      '5',
      '[1]',
      '{"type":5}',
      '{"type":"message_start"}',
      '{"type":"message_delta","usage":[]}',
    ];
    const meter = meterOf([Buffer.from(odd.map((data) => `data: ${data}\n\n`).join(''))]);
    expect([meter.report(), meter.outputBytes, meter.failed]).toEqual([null, 0, false]);
  });
});

describe.skipIf(recordings(['messages']).length === 0)('recorded messages', () => {
  const recorded = recordings(['messages']);
  const normOf = (report: UsageReport | null) => {
    const usage = report && totalUsage(report);
    return (
      usage && {
        input_uncached: usage.input,
        cache_read: usage.cachedInput,
        cache_write_5m: usage.cacheWrite5m,
        cache_write_1h: usage.cacheWrite1h,
        output: usage.output,
        reasoning: usage.reasoning,
        web_search_requests: usage.webSearches,
      }
    );
  };

  it.each(recorded.map((one) => [one.file, one] as const))(
    '%s has the usage recorded with it',
    (_file, one) => {
      const contentType = one.stream ? 'text/event-stream' : 'application/json';
      const meter = createMeter(messages, ask, { contentType });
      meter.push(one.body);
      meter.end();
      const none = { reasoning: 0, web_search_requests: 0, iterations: 0 };
      const { iterations: _listed, ...norm } = { ...none, ...one.norm };
      expect(normOf(meter.report())).toEqual(one.norm === null ? null : norm);
      expect(meter.report()?.flags ?? []).toEqual([]);
      if (one.norm) expect([meter.state(), meter.failed]).toEqual(['complete', false]);
    },
  );

  const streams = recorded.filter(({ stream, body }) => stream && body.length < 30_000);
  it.each(streams.flatMap((one) => lineEnds.map(([name, end]) => [one.file, name, one, end] as const)))(
    '%s keeps it wherever it is cut, with %s',
    (_file, _name, one, lineEnd) => {
      const whole = meterOf([one.body]).report();
      for (const pieces of cuts(withLineEnd(one.body.toString(), lineEnd))) {
        expect(meterOf(pieces).report()).toEqual(whole);
      }
    },
  );
});
