import { describe, expect, it } from 'vitest';
import { responses } from '#lib/core/families/responses';
import { totalUsage, type UsageReport, usageOf } from '#lib/core/metering/usage';
import { EventSplitter } from '#lib/core/relay/sse';
import { askResponse } from '#tests/unit/families/responses/make';
import { createMeter } from '#tests/unit/metering/make';
import { cuts, lineEnds, recordings, withLineEnd } from '#tests/unit/relay/streams';

const ask = askResponse({ model: 'm', stream: true });
type Payload = { readonly type: string } & Readonly<Record<string, unknown>>;
const event = (payload: Payload, index = 0) =>
  `event: ${payload.type}\ndata: ${JSON.stringify({ ...payload, sequence_number: index })}\n\n`;

const response = (type: string, fields: object = {}): Payload => ({
  type: `response.${type}`,
  response: {
    id: 'resp_1',
    object: 'response',
    status: type,
    service_tier: 'auto',
    usage: null,
    output: [],
    ...fields,
  },
});
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 20, cache_write_tokens: 30 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 109,
};
const told = { usage, service_tier: 'default' };
const text = (delta: string): Payload => ({ type: 'response.output_text.delta', item_id: 'msg_1', delta });

const payloads = [
  response('created'),
  response('in_progress'),
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { id: 'rs_1', type: 'reasoning', summary: [] },
  },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { id: 'msg_1', type: 'message', content: [] },
  },
  text('grüße 👋'),
  { type: 'response.novelty', usage: { output_tokens: 9_999 }, delta: { text: 'x' } },
  {
    type: 'response.output_item.done',
    item: { id: 'msg_1', content: [{ type: 'output_text', text: 'grüße 👋' }] },
  },
  response('completed', told),
];
const sample = payloads.map(event).join('');
const sampleUsage = usageOf({ input: 50, cachedInput: 20, cacheWrite5m: 30, output: 9, reasoning: 4 });

function meterOf(pieces: readonly Uint8Array[]) {
  const meter = createMeter(responses, ask, { contentType: 'text/event-stream' });
  for (const piece of pieces) meter.push(piece);
  meter.end();
  return meter;
}
const meterEvents = (...events: Payload[]) => meterOf([Buffer.from(events.map(event).join(''))]);

function readerOf(...events: Payload[]) {
  const reader = responses.streamReader(ask);
  for (const payload of events) reader.event(payload.type, JSON.stringify(payload));
  return reader;
}

describe('a stream of response events', () => {
  it.each(lineEnds)(
    'a stream of response events reports the same usage wherever it is cut, with %s',
    (_name, lineEnd) => {
      for (const pieces of cuts(withLineEnd(sample, lineEnd), 1)) {
        const meter = meterOf(pieces);
        expect(meter.report()).toEqual({ usage: sampleUsage, serviceTier: 'default', nested: [], flags: [] });
        expect([meter.state(), meter.failed, meter.events]).toEqual(['complete', false, 8]);
        expect(meter.outputBytes).toBe(Buffer.byteLength('grüße 👋'));
      }
    },
  );

  it('the usage of a response stream is unknown before its end', () => {
    const open = meterEvents(response('created'), response('in_progress'), text('abcd'));
    expect([open.report(), open.outputBytes, open.state(), open.failed]).toEqual([null, 4, 'cut', false]);
  });

  it.each([
    ['completed', false],
    ['incomplete', false],
    ['failed', true],
    ['cancelled', false],
  ])('ends with response.%s, whose usage counts', (end, failed) => {
    const meter = meterEvents(response('created'), response(end, told));
    expect([meter.report()?.usage.output, meter.state(), meter.failed]).toEqual([
      9,
      failed ? 'error' : 'complete',
      failed,
    ]);
    expect(meterEvents(response('created'), text('ab'), response(end)).report()).toBeNull();
  });

  it('the newest response object counts, even if an earlier one reported more', () => {
    const later = { ...usage, output_tokens: 2, total_tokens: 102 };
    const meter = meterEvents(response('in_progress', told), response('completed', { usage: later }));
    expect(meter.report()).toMatchObject({ usage: { output: 2 }, serviceTier: 'auto' });
  });

  it('a response stream with an error event has failed', () => {
    const error = { type: 'error', error: { code: 'insufficient_quota', message: 'x' } };
    expect(meterEvents(response('created'), error).failed).toBe(true);
    expect(meterOf([Buffer.from('event: error\ndata: not json\n\n')]).failed).toBe(true);
  });

  it('a response stream is over at [DONE], which some providers add', () => {
    const open = event(text('ab'));
    expect(meterOf([Buffer.from(open)]).state()).toBe('cut');
    expect(meterOf([Buffer.from(`${open}data: [DONE]\n\n`)]).state()).toBe('complete');
  });

  it('every delta in words counts as output, or the finished items if those contain more', () => {
    const delta = (type: string, value: unknown): Payload => ({
      type: `response.${type}.delta`,
      delta: value,
    });
    const meter = meterEvents(
      delta('reasoning_text', 'abc'),
      delta('reasoning_summary_text', 'de'),
      delta('refusal', 'f'),
      delta('function_call_arguments', '{"é":1}'),
      delta('custom_tool_call_input', 'gh'),
      delta('audio', 'QUJDQUJDQUJD'),
      { type: 'response.image_generation_call.partial_image', partial_image_b64: 'QUJD' },
      delta('shell_call_output_content', { stdout: 'no words of the model' }),
    );
    expect(meter.outputBytes).toBe(3 + 2 + 1 + 8 + 2);
    const item = { id: 'fc', type: 'function_call', name: 'fn', arguments: '{}' };
    expect(meterEvents({ type: 'response.output_item.done', item }).outputBytes).toBe(4);
  });

  it('asks for a checkpoint at its end and not before', () => {
    const meter = createMeter(responses, ask, { contentType: 'text/event-stream' });
    const terminal = payloads.map((payload, index) => {
      meter.push(Buffer.from(event(payload, index)));
      return meter.takeTerminal();
    });
    expect(terminal).toEqual(payloads.map((_, index) => index === payloads.length - 1));
  });

  it('shows the response from its first event on, and each item as soon as it is named', () => {
    const reader = responses.streamReader(ask);
    const shown = payloads.map((payload) => {
      reader.event(payload.type, JSON.stringify(payload));
      return reader.shown;
    });
    const [own, reasoning, message] = [
      { kind: 'response', id: 'resp_1' },
      { kind: 'item', id: 'rs_1' },
      { kind: 'item', id: 'msg_1' },
    ];
    expect(shown[0]).toEqual([own]);
    expect(shown[1]).toBe(shown[0]);
    expect(shown[2]).toEqual([own, reasoning]);
    expect(shown[3]).toEqual([own, reasoning, message]);
    expect(shown.at(-1)).toBe(shown[3]);
    const conversation = response('created', { conversation: { id: 'conv_1' } });
    expect(readerOf(conversation).shown).toEqual([own, { kind: 'conversation', id: 'conv_1' }]);
  });

  it('the newest response object shows the state of a job', () => {
    const reader = readerOf(response('queued'), response('in_progress'), text('a'));
    expect(responses.jobs?.read({}, reader.jobAnswer)).toMatchObject({ state: 'running', report: null });
    const done = readerOf(response('queued'), response('completed', told));
    expect(responses.jobs?.read({}, done.jobAnswer)).toMatchObject({
      state: 'completed',
      report: { usage: sampleUsage },
    });
    expect(readerOf(text('a')).jobAnswer).toBeUndefined();
  });

  describe('that breaks', () => {
    const error = { code: 'upstream_request_failed', message: 'It "broke"' };
    const ending = (shown: unknown) =>
      new EventSplitter()
        .push(Buffer.from(responses.breakFrame(error, 7, shown) ?? ''))
        .map(({ name, data }) => ({ name, data: JSON.parse(data) }));
    const told = (number: number) => ({
      name: 'error',
      data: { type: 'error', sequence_number: number, ...error, param: null, error },
    });

    it('ends with the response, failed, and an error, in the next numbers', () => {
      const shown = { id: 'resp_1', object: 'response', status: 'in_progress', tools: [1], error: null };
      const failed = { ...shown, status: 'failed', error, incomplete_details: null, output: [] };
      expect(ending(shown)).toEqual([
        {
          name: 'response.failed',
          data: {
            type: 'response.failed',
            sequence_number: 7,
            response: { ...failed, created_at: 0, model: '' },
          },
        },
        told(8),
      ]);
    });

    it('a broken stream without a response begins with the error', () => {
      const [first, second] = ending(undefined);
      expect(first).toEqual(told(7));
      expect(second).toMatchObject({
        name: 'response.failed',
        data: { sequence_number: 8, response: { id: '', status: 'failed', error, output: [] } },
      });
    });

    it('goes on with the numbers of a stream that was read from its middle', () => {
      const meter = meterOf([Buffer.from(event(text('a'), 41) + event(text('b'), 42))]);
      expect(meter.events).toBe(43);
    });
  });

  it('survives nonsense', () => {
    const odd = [
      '',
      'null',
      '5',
      '[1]',
      '{"type":5}',
      '{"response":[]}',
      '{"item":3}',
      '{"type":"a.delta","delta":{}}',
    ];
    const meter = meterOf([Buffer.from(odd.map((data) => `data: ${data}\n\n`).join(''))]);
    expect([meter.report(), meter.outputBytes, meter.failed]).toEqual([null, 0, false]);
  });
});

const recorded = recordings(['responses', 'responses-compat']);

describe.skipIf(recorded.length === 0)('recorded responses', () => {
  const normOf = (report: UsageReport | null) => {
    const used = report && totalUsage({ ...report, nested: [] });
    return (
      used && {
        input_total: used.input + used.cachedInput + used.cacheWrite5m,
        input_uncached: used.input,
        cache_read: used.cachedInput,
        cache_write: used.cacheWrite5m,
        output: used.output,
        reasoning: used.reasoning,
      }
    );
  };

  it.each(recorded.map((one) => [one.file, one] as const))(
    '%s has the usage recorded with it',
    (_file, one) => {
      const contentType = one.stream ? 'text/event-stream' : 'application/json';
      const meter = createMeter(responses, ask, { contentType });
      meter.push(one.body);
      meter.end();
      expect(normOf(meter.report())).toEqual(one.norm);
      expect(meter.report()?.flags ?? []).toEqual([]);
      if (!one.norm) return;
      expect(meter.report()?.serviceTier ?? null).toBe(one.service_tier);
      expect([meter.state(), meter.failed]).toEqual(['complete', false]);
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
