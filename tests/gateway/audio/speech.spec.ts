import OpenAI, { BadRequestError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AudioLength } from '#lib/core/audio/length';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { ask, bearer, codeOf, jsonOf, messageOf } from '#tests/support/chat-call';
import { setPolicy } from '#tests/support/control/operate';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';
import { tone, wave } from '#tools/sandbox/audio/sound';

const json = { 'content-type': 'application/json' };
/** Of 20 characters and 23 bytes, at 80 ms a character. */
const text = 'A calm sea, ñ€ night';
const ms = 1_600;
const all = (pieces: Iterable<Buffer>) => Buffer.concat([...pieces]);

describe('speech (contract: families/speech)', () => {
  let stack: Stack;
  let slug = '';
  let key = '';
  let openai: OpenAI;
  beforeAll(async () => {
    stack = await joinStack();
    ({ slug } = await stack.workspace({ rpm: null, tpm: null }));
    ({ key } = await stack.key(slug));
    openai = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 });
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });
  const post = (body: object, as = key, more: Record<string, string> = {}) =>
    ask(stack.url, 'POST', '/v1/audio/speech', { ...json, ...bearer(as), ...more }, JSON.stringify(body));
  const idOf = (answer: { headers: Headers }) => answer.headers.get('x-request-id') ?? '';

  it.each([
    ['wav', all(wave(ms, text)), 'audio/wav'],
    ['pcm', all(tone(ms)), 'audio/pcm'],
  ] as const)(
    'reaches the openai SDK as %s, byte for byte, at the price of its characters',
    async (format, bytes, type) => {
      const answer = await openai.audio.speech.create({
        model: 'sandbox/narrator',
        input: text,
        voice: 'alloy',
        response_format: format,
      });
      expect(answer.headers.get('content-type')).toBe(type);
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
      const call = await stack.call(idOf(answer));
      expect(call).toMatchObject({
        operation: 'audio.speech',
        usageSource: 'reported',
        flags: ['usage_counted'],
        endReason: 'completed',
      });
      expect(call.usage).toMatchObject({ characters: 20, audioMs: ms, input: 0, output: 0 });
      expect(call.lines).toMatchObject([{ class: 'characters', quantity: 20 }]);
      // $15 a million.
      expect(costOf(call)).toBe(300_000n);
      expect(await linesOf(stack, idOf(answer))).toEqual([-300_000n]);
    },
  );

  it('by tokens is estimated by the length of its audio, if the provider reports none', async () => {
    const answer = await openai.audio.speech.create({
      model: 'sandbox/speaker',
      input: text,
      voice: 'alloy',
      response_format: 'mp3',
    });
    const length = new AudioLength();
    length.push(Buffer.from(await answer.arrayBuffer()));
    // 67 frames of 24 ms.
    expect(length.ms).toBe(1_608);
    const call = await stack.call(idOf(answer));
    expect(call).toMatchObject({ usageSource: 'estimated', endReason: 'completed' });
    // Twenty tokens a second, rounded up.
    expect(call.usage).toMatchObject({ output: 33, audioOutput: 33, characters: 20, audioMs: 1_608 });
    expect(costOf(call)).toBe(BigInt(call.usage.input) * 600n + 33n * 12_000n);
  });

  it('as events costs the tokens that they report', async () => {
    const answer = await openai.audio.speech.create({
      model: 'sandbox/speaker',
      input: text,
      voice: 'alloy',
      response_format: 'wav',
      stream_format: 'sse',
    });
    const events = (await answer.text())
      .split('\n\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)));
    const pieces = events.filter(({ type }) => type === 'speech.audio.delta');
    const audio = Buffer.concat(pieces.map((event) => Buffer.from(event.audio, 'base64')));
    expect(audio.equals(all(wave(ms, text)))).toBe(true);
    const { usage } = events.at(-1);
    expect(usage).toMatchObject({ output_tokens: 32 });
    const call = await stack.call(idOf(answer));
    expect(call).toMatchObject({ usageSource: 'reported', flags: [], endReason: 'completed' });
    expect(call.usage).toMatchObject({ input: usage.input_tokens, output: 32, audioOutput: 32, audioMs: ms });
    expect(costOf(call)).toBe(BigInt(usage.input_tokens) * 600n + 32n * 12_000n);
  });

  it('of minutes passes as it comes: the first bytes are here while the provider still speaks', async () => {
    const answer = await openai.audio.speech.create({
      model: 'sandbox/narrator',
      input: 'Slow [[fault/stall@3?ms=1500]]',
      voice: 'alloy',
      response_format: 'wav',
    });
    const begunMs = performance.now();
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    expect(first?.value?.length).toBeGreaterThan(0);
    let bytes = first?.value?.length ?? 0;
    let beforeMs = performance.now() - begunMs;
    for (;;) {
      const next = await reader?.read();
      if (next?.done !== false) break;
      bytes += next.value.length;
      if (bytes < 9_000) beforeMs = performance.now() - begunMs;
    }
    expect(performance.now() - begunMs - beforeMs).toBeGreaterThan(500);
    expect(bytes).toBe(all(wave(1_500, 'Slow')).length);
  });

  it('of 15 MB has every byte', async () => {
    const input = 'word '.repeat(800).trim();
    const answer = await openai.audio.speech.create({
      model: 'sandbox/narrator',
      input,
      voice: 'alloy',
      response_format: 'wav',
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.equals(all(wave(input.length * 80, input)))).toBe(true);
    expect(costOf(await stack.call(idOf(answer)))).toBe(BigInt(input.length) * 15_000n);
  });

  it('that breaks off is cut, and costs its characters', async () => {
    const input = 'Cut [[fault/cut@2]]';
    const answer = await post({ model: 'sandbox/narrator', input, voice: 'alloy', response_format: 'pcm' });
    expect(answer.status).toBe(200);
    expect(answer.whole).toBe(false);
    const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
    expect(call.endReason).toBe('upstream_error');
    expect(costOf(call)).toBe(BigInt(input.length) * 15_000n);
  });

  it('as events that break off ends with an error event and costs what came', async () => {
    const body = {
      model: 'sandbox/speaker',
      input: 'Cut [[fault/cut@2]]',
      voice: 'alloy',
      response_format: 'pcm',
      stream_format: 'sse',
    };
    const answer = await post(body);
    expect(answer.body.toString()).toContain('event: error\ndata: {"type":"error","error":{"message":');
    const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
    expect(call).toMatchObject({ endReason: 'upstream_error', usageSource: 'estimated' });
    // Two pieces of 100 ms.
    expect(call.usage).toMatchObject({ audioMs: 200, output: 4, audioOutput: 4 });
  });

  it.each([
    ['an error', 'status-500', 500, 'upstream_error'],
    ['a page of HTML', 'garbage', 502, 'upstream_error'],
    ['an error with status 200', 'error-body', 502, 'upstream_error'],
    ['nothing', 'close-before-headers', 502, 'upstream_error'],
  ])('is free if the provider answers with %s', async (_name, fault, status, endReason) => {
    const answer = await post({ model: 'sandbox/narrator', input: `Say [[fault/${fault}]]`, voice: 'alloy' });
    expect(answer.status, answer.body.toString()).toBe(status);
    const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
    expect(call).toMatchObject({ cost: '0', endReason });
  });

  it('goes to another model if its own fails', async () => {
    const own = await stack.workspace({ rpm: null });
    const { key: theirs } = await stack.key(own.slug);
    await setPolicy(stack.db, { workspace: own.slug, policy: { fallbackModels: ['sandbox/narrator'] } });
    const input = `Say [[fault/status-500?times=1&of=${own.slug}]]`;
    const answer = await post({ model: 'sandbox/speaker', input, voice: 'alloy' }, theirs);
    expect(answer.status, answer.body.toString()).toBe(200);
    expect(headerOf(answer, 'x-answered-model')).toBe('sandbox/narrator');
    const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
    expect(call.lines).toMatchObject([{ class: 'characters', quantity: input.length }]);
  });

  it.each([
    ['without a model', { input: 'Hello', voice: 'alloy' }, '"model" is missing'],
    ['without text', { model: 'sandbox/narrator', voice: 'alloy' }, '"input" is missing'],
    ['with text of another type', { model: 'sandbox/narrator', input: ['a'] }, 'must be a string'],
    [
      'with a speed of another type',
      { model: 'sandbox/narrator', input: 'a', speed: '2' },
      'must be a number',
    ],
    ['with its text twice', '{"model":"sandbox/narrator","input":"a","input":"b"}', 'twice'],
  ])('%s is 400 invalid_body', async (_name, body, message) => {
    const bytes = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await ask(stack.url, 'POST', '/v1/audio/speech', { ...json, ...bearer(key) }, bytes);
    expect(answer.status).toBe(400);
    expect(codeOf(answer)).toBe('invalid_body');
    expect(messageOf(answer)).toContain(message);
  });

  it('of a model that writes text is refused, and of one outside the scope of the key too', async () => {
    const wrong = await post({ model: 'sandbox/echo', input: 'a', voice: 'alloy' });
    expect(codeOf(wrong)).toBe('model_not_allowed');
    expect(wrong.body.toString()).toContain('/v1/chat/completions');
    const { key: scoped } = await stack.key(slug, { models: ['sandbox/speaker'] });
    expect(codeOf(await post({ model: 'sandbox/narrator', input: 'a', voice: 'alloy' }, scoped))).toBe(
      'model_not_allowed',
    );
  });

  it('gets the error of the provider, free, for a voice that is missing', async () => {
    const failed = await openai.audio.speech
      .create({ model: 'sandbox/narrator', input: 'Hello' } as never)
      .catch((error) => error);
    expect(failed).toBeInstanceOf(BadRequestError);
    expect(await stack.call(failed.headers.get('x-request-id'))).toMatchObject({ cost: '0', status: 400 });
  });

  it('has its models in the list', async () => {
    const listed = jsonOf(await ask(stack.url, 'GET', '/v1/models', bearer(key)));
    expect(listed.data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          id: 'sandbox/narrator',
          architecture: { input_modalities: ['text'], output_modalities: ['audio'] },
        }),
        expect.objectContaining({ id: 'sandbox/scribe' }),
      ]),
    );
  });
});
