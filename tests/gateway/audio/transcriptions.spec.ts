import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBalanced, costOf, linesOf } from '#tests/support/books';
import { ask, bearer, codeOf, messageOf } from '#tests/support/chat-call';
import { setWorkspace } from '#tests/support/control/operate';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf, requestText, talk } from '#tests/support/wire';
import { formOf } from '#tests/unit/multipart/make';
import { silence, wave } from '#tools/sandbox/audio/sound';

const said = 'A calm sea at night.';
const ms = 12_500;
const recording = Buffer.concat([...wave(ms, said)]);
const file = () => toFile(recording, 'sea.wav', { type: 'audio/wav' });
/** $0.36 an hour: 100 nano-dollars a millisecond. */
const heardNano = BigInt(ms) * 100n;

describe('transcripts (contract: families/transcriptions)', () => {
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
  const edge = { 'content-type': 'multipart/form-data; boundary=edge' };
  const part = (name: string, value: string) => ({ name, value });
  const sent = { name: 'file', filename: 'sea.wav', value: recording };
  async function post(parts: Parameters<typeof formOf>[1], as = key, path = '/v1/audio/transcriptions') {
    const head = { ...bearer(as), ...edge };
    const { answers } = await talk(stack.url, requestText('POST', path, head, formOf('edge', parts)));
    const [answer] = answers;
    if (!answer) throw new Error('no answer');
    return answer;
  }
  const idOf = (answer: Parameters<typeof headerOf>[0]) => headerOf(answer, 'x-request-id') ?? '';

  it.each(['json', 'verbose_json', 'text', 'srt', 'vtt'] as const)(
    'as %s reach the openai SDK, at the price of their length',
    async (format) => {
      const { data, response } = await openai.audio.transcriptions
        .create({ file: await file(), model: 'sandbox/scribe', response_format: format })
        .withResponse();
      expect(typeof data === 'string' ? data : (data as { text: string }).text).toContain(said);
      const id = response.headers.get('x-request-id') ?? '';
      const call = await stack.call(id);
      const counted = format === 'text' || format === 'srt' || format === 'vtt';
      expect(call).toMatchObject({
        operation: 'audio.transcription',
        usageSource: 'reported',
        flags: counted ? ['usage_counted'] : [],
        endReason: 'completed',
      });
      expect(call.usage).toMatchObject({ audioMs: ms, input: 0, output: 0 });
      expect(call.lines).toMatchObject([{ class: 'audioMs', quantity: ms }]);
      expect(costOf(call)).toBe(heardNano);
      expect(await linesOf(stack, id)).toEqual([-heardNano]);
    },
  );

  it.each(['json', 'diarized_json'] as const)('as %s cost the tokens that they report', async (format) => {
    const { data, response } = await openai.audio.transcriptions
      .create({
        file: await file(),
        model: 'sandbox/listener',
        ...(format === 'json' ? { prompt: 'Sea' } : {}),
        response_format: format as 'json',
      })
      .withResponse();
    expect(data.text).toBe(said);
    const call = await stack.call(response.headers.get('x-request-id') ?? '');
    expect(call).toMatchObject({ usageSource: 'reported', flags: [] });
    const prompt = format === 'json' ? 1 : 0;
    expect(call.usage).toMatchObject({ input: 125 + prompt, audioInput: 125, output: 5, audioMs: ms });
    expect(costOf(call)).toBe(BigInt(prompt) * 2_500n + 125n * 6_000n + 5n * 10_000n);
  });

  it('are streamed as events', async () => {
    const stream = await openai.audio.transcriptions.create({
      file: await file(),
      model: 'sandbox/listener',
      stream: true,
    });
    let [text, done]: [string, unknown] = ['', null];
    for await (const event of stream) {
      if (event.type === 'transcript.text.delta') text += event.delta;
      if (event.type === 'transcript.text.done') done = event;
    }
    expect(text).toBe(said);
    expect(done).toMatchObject({ text: said, usage: { type: 'tokens', output_tokens: 5 } });
  });

  it('that break off are estimated, and end with an error event', async () => {
    const answer = await post([
      part('model', 'sandbox/listener'),
      part('stream', 'true'),
      part('prompt', '[[fault/cut@3]]'),
      sent,
    ]);
    expect(answer.body.toString()).toContain('data: {"type":"error","error":{"message":');
    const call = await stack.call(idOf(answer));
    expect(call).toMatchObject({ usageSource: 'estimated', endReason: 'upstream_error' });
    expect(call.usage).toMatchObject({ audioInput: 157, audioMs: ms });
    expect(call.usage.output).toBeGreaterThan(0);
  });

  it.each([
    ['seconds', 'sandbox/scribe', heardNano],
    ['tokens', 'sandbox/listener', null],
  ] as const)('without usage are charged by the length of the file: %s', async (_name, model, nano) => {
    const answer = await post([part('model', model), part('prompt', '[[fault/no-usage]]'), sent]);
    expect(answer.status, answer.body.toString()).toBe(200);
    const call = await stack.call(idOf(answer));
    if (nano !== null) {
      expect(call).toMatchObject({ usageSource: 'reported', flags: ['usage_counted'] });
      expect(costOf(call)).toBe(nano);
    } else {
      expect(call).toMatchObject({ usageSource: 'estimated' });
      // 12.5 tokens a second, rounded up.
      expect(call.usage).toMatchObject({ audioInput: 157, output: 5 });
    }
  });

  it('are translated', async () => {
    const { data, response } = await openai.audio.translations
      .create({ file: await file(), model: 'sandbox/scribe' })
      .withResponse();
    expect(data.text).toBe(`In English: ${said}`);
    const call = await stack.call(response.headers.get('x-request-id') ?? '');
    expect(call).toMatchObject({ operation: 'audio.translation' });
    expect(costOf(call)).toBe(heardNano);
  });

  it('whose provider reports absurd seconds cost at most what the file can have', async () => {
    const answer = await post([
      part('model', 'sandbox/scribe'),
      part('prompt', '[[fault/absurd-usage]]'),
      sent,
    ]);
    const call = await stack.call(idOf(answer));
    expect(call.flags).toContain('usage_anomaly');
    expect(costOf(call)).toBe(BigInt(recording.length) * 100n);
  });

  it('of a file that hides its length are held and charged by its size', async () => {
    const odd = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(39_996, 7)]);
    const answer = await post([
      part('model', 'sandbox/scribe'),
      part('prompt', '[[fault/no-usage]]'),
      part('response_format', 'text'),
      { name: 'file', filename: 'a.ogg', value: odd },
    ]);
    expect(answer.status, answer.body.toString()).toBe(200);
    const call = await stack.call(idOf(answer));
    // A millisecond for four bytes; held is one for each.
    expect(call).toMatchObject({ usageSource: 'estimated' });
    expect(call.usage.audioMs).toBe(10_000);
    expect(costOf(call)).toBe(1_000_000n);
  });

  it.each([
    ['no file', [part('model', 'sandbox/scribe')], 'Part "file" is missing'],
    ['two files', [part('model', 'sandbox/scribe'), sent, sent], 'twice'],
    [
      'an empty file',
      [part('model', 'sandbox/scribe'), { name: 'file', filename: 'a.wav', value: '' }],
      'is empty',
    ],
    ['a file that is text', [part('model', 'sandbox/scribe'), part('file', 'sound')], 'is not a file'],
    [
      'an address',
      [part('model', 'sandbox/scribe'), part('url', 'https://a.example'), sent],
      '"url" is not accepted',
    ],
    [
      'a file of the account',
      [part('model', 'sandbox/scribe'), part('file_id', 'f'), sent],
      '"file_id" is not',
    ],
    ['no model', [sent], '"model" is missing'],
    ['a model twice', [part('model', 'sandbox/scribe'), part('model', 'sandbox/listener'), sent], 'twice'],
    [
      'a stream that is no flag',
      [part('model', 'sandbox/listener'), part('stream', 'yes'), sent],
      'true or false',
    ],
  ])('with %s are 400 invalid_body', async (_name, parts, message) => {
    const answer = await post(parts);
    expect(answer.status).toBe(400);
    expect(codeOf(answer)).toBe('invalid_body');
    expect(messageOf(answer)).toContain(message);
  });

  it('of JSON are refused with what to send', async () => {
    const body = JSON.stringify({ model: 'sandbox/scribe' });
    const json = { ...bearer(key), 'content-type': 'application/json' };
    const answer = await ask(stack.url, 'POST', '/v1/audio/transcriptions', json, body);
    expect(messageOf(answer)).toContain('send the audio as the file "file"');
    expect(codeOf(answer)).toBe('invalid_body');
  });

  it('of what is no audio get the error of the provider, free', async () => {
    const answer = await post([
      part('model', 'sandbox/scribe'),
      { name: 'file', filename: 'a.txt', value: 'words' },
    ]);
    expect(answer.status).toBe(400);
    expect(await stack.call(idOf(answer))).toMatchObject({ cost: '0', status: 400 });
  });

  it('count their tokens against TPM, and seconds not', async () => {
    const { key: narrow } = await stack.key(slug, { tpm: 250 });
    expect((await post([part('model', 'sandbox/scribe'), sent], narrow)).status).toBe(200);
    expect((await post([part('model', 'sandbox/scribe'), sent], narrow)).status).toBe(200);
  });

  it('of 200 at once against a balance for ten overdraw by one call at most', async () => {
    const own = await stack.workspace({ rpm: null, tpm: null });
    await setWorkspace(stack.db, { workspace: own.slug, credit: '0.0125' });
    const { key: theirs } = await stack.key(own.slug);
    const short = { name: 'file', filename: 'a.mp3', value: Buffer.concat([...silence(12_480)]) };
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => post([part('model', 'sandbox/scribe'), short], theirs)),
    );
    const served = answers.filter(({ status }) => status === 200);
    const refused = answers.filter((answer) => codeOf(answer) === 'insufficient_balance');
    expect(served.length + refused.length).toBe(200);
    // Each costs $0.001248.
    expect(served.length).toBeGreaterThan(0);
    expect(served.length).toBeLessThanOrEqual(11);
  });
});
