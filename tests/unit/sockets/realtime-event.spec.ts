import { describe, expect, it } from 'vitest';
import { applyEdits } from '#lib/core/families/edits';
import { realtime } from '#lib/core/families/realtime';
import { realtimeFields } from '#lib/core/families/realtime/ask';
import { ResponseMeter, usageOfResponse, usageOfTranscript } from '#lib/core/families/realtime/meter';
import { scan } from '#lib/core/families/scan';
import { protocolHeaders } from '#lib/gateway/sockets/pure/protocols';
import { beginsAsEvent, newState, stateIn } from '#lib/gateway/sockets/pure/realtime-event';
import { makeOffer } from '#tests/unit/families/make';

const [operation] = realtime.operations;

function asked(event: string) {
  const scanned = scan(Buffer.from(event), realtimeFields);
  if ('fault' in scanned || !operation) throw new Error('not an event');
  return realtime.readAsk({ operation, params: { model: 'vendor/talker' }, scan: scanned });
}

function edited(event: string, limit: number | null): unknown {
  const ask = asked(event);
  if ('code' in ask) throw new Error(ask.message);
  return JSON.parse(
    Buffer.from(applyEdits(ask.scan.body, realtime.edits(ask, makeOffer({}), limit))).toString(),
  );
}

describe('the limit of output tokens in an event (contract: realtime/budget)', () => {
  it.each([
    ['{"type":"response.create"}', null],
    ['{"type":"response.create","response":{"max_output_tokens":7}}', 7],
    ['{"type":"response.create","response":{"max_output_tokens":"inf"}}', null],
    ['{"type":"session.update","session":{"max_response_output_tokens":9}}', 9],
    // By the name that a provider does not read, or in an object that it does not read.
    [
      '{"type":"response.create","response":{"max_output_tokens":"inf","max_response_output_tokens":5}}',
      null,
    ],
    ['{"type":"response.create","response":{"max_output_tokens":null,"max_response_output_tokens":5}}', null],
    ['{"type":"response.create","session":{"max_output_tokens":5}}', null],
    [
      '{"type":"session.update","session":{"max_output_tokens":"inf"},"response":{"max_output_tokens":5}}',
      null,
    ],
  ])('of %s is %s', (event, budget) => {
    expect(asked(event)).toMatchObject({ budget, model: 'vendor/talker' });
  });

  it.each(['"many"', '-1', '1.5', '{}'])('is refused as %s', (value) => {
    expect(asked(`{"type":"response.create","response":{"max_output_tokens":${value}}}`)).toMatchObject({
      code: 'invalid_body',
    });
  });

  it.each([
    ['{"type":"response.create"}', { response: { max_output_tokens: 5 } }],
    ['{"type":"response.create","response":null}', { response: { max_output_tokens: 5 } }],
    ['{"type":"response.create","response":{}}', { response: { max_output_tokens: 5 } }],
    [
      '{"type":"response.create","response":{"max_output_tokens":null}}',
      { response: { max_output_tokens: 5 } },
    ],
    [
      '{"type":"response.create","response":{"max_output_tokens":"inf"}}',
      { response: { max_output_tokens: 5 } },
    ],
    [
      '{"type":"session.update","session":{"voice":"a","max_response_output_tokens":"inf"}}',
      { session: { voice: 'a', max_response_output_tokens: 5 } },
    ],
    [
      '{"type":"session.update","session":{"max_output_tokens":"inf","max_response_output_tokens":null}}',
      { session: { max_output_tokens: 5, max_response_output_tokens: 5 } },
    ],
    [
      '{"type":"response.create","session":{"max_output_tokens":3}}',
      { session: { max_output_tokens: 3 }, response: { max_output_tokens: 5 } },
    ],
  ])('is written into %s', (event, made) => {
    expect(edited(event, 5)).toEqual({ ...JSON.parse(event), ...made });
    expect(edited(event, null)).toEqual(JSON.parse(event));
  });
});

describe('the usage of a response (contract: realtime/charge)', () => {
  it('has its kinds of tokens, without what was cached of each', () => {
    const report = usageOfResponse({
      usage: {
        total_tokens: 831,
        input_tokens: 799,
        output_tokens: 32,
        input_token_details: {
          text_tokens: 303,
          audio_tokens: 476,
          image_tokens: 20,
          cached_tokens: 650,
          cached_tokens_details: { text_tokens: 256, audio_tokens: 384, image_tokens: 10 },
        },
        output_token_details: { text_tokens: 9, audio_tokens: 23 },
      },
    });
    expect(report?.usage).toMatchObject({
      input: 149,
      audioInput: 92,
      imageInput: 10,
      cachedInput: 650,
      cachedAudioInput: 384,
      cachedImageInput: 10,
      output: 32,
      audioOutput: 23,
    });
  });

  it('is none without figures, and flagged if it contradicts itself', () => {
    expect(usageOfResponse({ usage: null })).toBeNull();
    expect(usageOfResponse({ usage: {} })).toBeNull();
    const odd = { usage: { input_tokens: 1, output_tokens: 1, input_token_details: { cached_tokens: 5 } } };
    expect(usageOfResponse(odd)?.flags).toContain('usage_inconsistent');
    expect(usageOfResponse({ usage: { output_tokens: 3 } })?.unread).toEqual(['input']);
  });

  it('is estimated from audio by its length until it is reported', () => {
    const meter = new ResponseMeter();
    meter.audio(64_000, null);
    expect(meter.report()).toMatchObject({ usage: { output: 20, audioOutput: 20 }, outputOpen: true });
    meter.audio(Math.ceil((8_000 * 4) / 3), 'audio/pcmu');
    expect(meter.report()?.usage.audioOutput).toBe(41);
    meter.done({ status: 'completed', usage: { input_tokens: 1, output_tokens: 2 } });
    expect(meter.report()).toMatchObject({ usage: { input: 1, output: 2 } });
  });

  it('of a transcript is that of another model, by tokens or by its length', () => {
    const [told] =
      usageOfTranscript({ usage: { type: 'duration', seconds: 1.5 } }, 'whisper-1')?.nested ?? [];
    expect(told).toMatchObject({ upstreamModel: 'whisper-1', usage: { audioMs: 1_500, input: 0 } });
    expect(usageOfTranscript({}, 'whisper-1')).toBeNull();
  });
});

describe('what a session says of itself (contract: realtime/voice-detection)', () => {
  it.each([
    [{ audio: { input: { turn_detection: null } } }, false],
    [{ audio: { input: { turn_detection: { type: 'server_vad' } } } }, true],
    [{ audio: { input: { turn_detection: { type: 'semantic_vad', create_response: false } } } }, false],
    [{ turn_detection: { type: 'server_vad', create_response: true } }, true],
    [{ turn_detection: null }, false],
    [{ type: 'transcription', audio: { input: { turn_detection: { type: 'server_vad' } } } }, false],
  ])('%j: the provider starts responses by itself: %s', (session, startsByItself) => {
    expect(stateIn({ session }, newState).startsByItself).toBe(startsByItself);
  });
});

describe('bytes that are no sound event (contract: realtime/read-events)', () => {
  const event = '{"type":"response.create","type":"response.create"}';
  it.each([
    ['a name twice', Buffer.from(event)],
    ['a byte order mark', Buffer.from(`\ufeff \n${event}`)],
    ['UTF-16', Buffer.from(`\ufeff${event}`, 'utf16le')],
    ['UTF-16 with the larger byte first', Buffer.from(`\ufeff${event}`, 'utf16le').swap16()],
    ['an empty object and more', Buffer.from('{ } x')],
  ])('are taken for one with %s', (_what, bytes) => {
    expect(beginsAsEvent(bytes)).toBe(true);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['silence', Buffer.alloc(4_800)],
    ['sound', Buffer.from([0x7b, 0x00, 0x81, 0x02])],
    ['a list', Buffer.from('[1]')],
  ])('are not taken for one when they are %s', (_what, bytes) => {
    expect(beginsAsEvent(bytes)).toBe(false);
  });
});

describe('the protocols of a browser (contract: realtime/handshake)', () => {
  it('are read as headers, and what is left of them is not a secret', () => {
    const told =
      'realtime, openai-insecure-api-key.mg_secret, openai-organization.o, openai-beta.realtime-v1';
    expect(protocolHeaders({}, { 'sec-websocket-protocol': told })).toEqual({
      authorization: 'Bearer mg_secret',
      'openai-beta': 'realtime=v1',
      'sec-websocket-protocol': 'realtime',
    });
    expect(
      protocolHeaders({ authorization: 'Bearer x' }, { 'sec-websocket-protocol': told }).authorization,
    ).toBe('Bearer x');
  });
});
