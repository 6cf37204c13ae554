import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clients, type Said, type Wish } from '#tests/gateway/translation/clients';
import { closeBalanced } from '#tests/support/books';
import { ask, bearer, seenOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n').toString(
  'base64',
);
const place = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};
const directions = clients.flatMap((client) =>
  clients
    .filter((target) => target !== client)
    .flatMap((target) =>
      [false, true].map((stream) => ({
        client,
        stream,
        from: client.protocol,
        to: target.protocol,
        how: stream ? 'streamed' : 'whole',
      })),
    ),
);

let stack: Stack;
let key = '';
beforeAll(async () => {
  stack = await joinStack();
  const { slug } = await stack.workspace({ credit: '1000', rpm: null, tpm: null, concurrency: null });
  ({ key } = await stack.key(slug));
});
afterAll(async () => {
  await closeBalanced(stack);
});

interface Answered {
  readonly status: number;
  readonly said: Said;
  readonly text: string;
  readonly header: (name: string) => string | undefined;
  /** The JSON that the provider got. */
  readonly received: Record<string, unknown>;
  /** The same as bytes. */
  readonly written: string;
  readonly id: string;
}

describe.concurrent.each(directions)('$from on a model of $to, $how', ({ client, stream, from, to }) => {
  const model = `sandbox/only-${to}`;

  async function send(wish: Wish): Promise<Answered> {
    const mark = randomUUID();
    const body = client.body(model, stream, { ...wish, prompt: `Say ${mark}. ${wish.prompt}` });
    const headers = { 'content-type': 'application/json', ...bearer(key) };
    const answer = await ask(stack.url, 'POST', client.path(model, stream), headers, JSON.stringify(body));
    const text = answer.body.toString();
    const said = answer.status === 200 ? client.read(text, stream) : noAnswer;
    const header = (name: string) => headerOf(answer, name);
    if (answer.status >= 400 && answer.status !== 429) throw new Error(`refused: ${text}`);
    const written = (await seenOf(stack, { mark })).body ?? '';
    const received = record(JSON.parse(written));
    return { status: answer.status, said, text, header, received, written, id: header('x-request-id') ?? '' };
  }

  it('text and a system prompt arrive, and the client gets the usage that is charged', async () => {
    const answer = await send({ prompt: 'A calm sea', system: 'Answer like a sailor.' });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.header('x-translated')).toBe(`${from}-to-${to}`);
    expect(answer.header('x-translation-loss')).toBeUndefined();
    expect(JSON.stringify(answer.received)).toContain('Answer like a sailor.');
    expect(answer.said.text).toContain('A calm sea');
    expect(answer.said.error).toBeNull();
    const call = await stack.call(answer.id);
    expect(call).toMatchObject({
      status: 200,
      family: from,
      endReason: 'completed',
      usageSource: 'reported',
      answeringModel: model,
      attempts: [{ status: 200, translatedTo: to, lost: [] }],
    });
    const { input = 0, cachedInput = 0, cacheWrite5m = 0, output } = call.usage;
    expect(answer.said.inputTokens).toBe(input + cachedInput + cacheWrite5m);
    expect(answer.said.outputTokens).toBe(output);
  });

  it('a picture and a PDF arrive byte for byte', async () => {
    const { status, text, received } = await send({ prompt: 'What is this?', picture: png, pdf });
    expect(status, text).toBe(200);
    expect(JSON.stringify(received)).toContain(png);
    expect(JSON.stringify(received)).toContain(pdf);
  });

  it('results of two parallel calls arrive under their own ids and names', async () => {
    const done = [
      { id: 'call_a', name: 'get_weather', result: 'Rain in the north' },
      { id: 'call_b', name: 'get_time', result: 'Ten past nine' },
    ];
    const tools = ['get_weather', 'get_time'];
    const { status, text, said, received } = await send({ prompt: 'So?', tools, done });
    expect(status, text).toBe(200);
    const sent = JSON.stringify(received);
    for (const { name, result } of done) {
      expect(sent).toContain(name);
      expect(sent).toContain(result);
    }
    expect(said.calls.length + said.text.length).toBeGreaterThan(0);
  });

  it('a forced tool is called, with arguments by its schema', async () => {
    const tools = ['get_time', 'get_weather'];
    const { status, text, said } = await send({ prompt: 'Go', tools, forced: 'get_weather' });
    expect(status, text).toBe(200);
    expect(said.calls.map(({ name }) => name)).toEqual(['get_weather']);
    expect(said.calls[0]?.args).toEqual({ city: expect.any(String) });
    expect(said.calls[0]?.id).not.toBe('');
  });

  it('a strict schema is kept by the answer', async () => {
    const { status, text, said, received } = await send({ prompt: 'Where?', schema: place });
    expect(status, text).toBe(200);
    expect(JSON.stringify(received)).toContain('degrees');
    expect(JSON.parse(said.text)).toEqual({ city: expect.any(String), degrees: expect.any(Number) });
  });

  it('a stop word ends the answer, or is named as lost', async () => {
    // Responses have none on either side.
    if (from === 'responses') return;
    const { status, text, said, header } = await send({ prompt: 'One END two', stop: 'END' });
    expect(status, text).toBe(200);
    if (to === 'responses') expect(header('x-translation-loss')).toMatch(/stop/i);
    else expect(said.text).not.toContain('END');
  });

  it('the budget that was reached is said as the client knows it', async () => {
    const long = 'word '.repeat(400);
    const { status, text, said, written } = await send({ prompt: long, budget: 40 });
    expect(status, text).toBe(200);
    expect(said.reason).toBe(client.length);
    expect(said.outputTokens).toBe(40);
    expect(written.match(/"(max_tokens|max_output_tokens|maxOutputTokens)":40\b/g)).toHaveLength(1);
    expect(written.match(/"max_\w*tokens":/g) ?? [1]).toHaveLength(1);
  });

  it('thinking that was signed goes back to its maker with the next turn', async () => {
    const wish = { prompt: 'Use get_weather', tools: ['get_weather'], thinks: true } as const;
    const first = await send(wish);
    expect(first.status, first.text).toBe(200);
    expect(first.said.calls).toHaveLength(1);
    const second = await send({ ...wish, after: { said: first.said, result: '21 degrees' } });
    expect(second.status, second.text).toBe(200);
    const sent = JSON.stringify(second.received);
    expect(sent).toContain('21 degrees');
    expect(sent).not.toContain('mgt1_');
    // The simulated provider signs its thinking in these two protocols.
    if (to === 'responses') expect(sent).toContain('encrypted_content');
    if (to === 'messages') expect(sent).toContain('c2FuZGJveA==');
  });

  it('a provider that refuses keeps its status and its words', async () => {
    const { status, text, header, id } = await send({ prompt: '[[fault/status-429]]' });
    expect(status).toBe(429);
    expect(header('x-translated')).toBeUndefined();
    expect(text).toContain('error');
    expect(await stack.call(id)).toMatchObject({ status: 429, cost: '0', attempts: [{ translatedTo: to }] });
  });

  if (stream) {
    it('a stream that breaks off ends with an error of the client’s protocol', async () => {
      const { said, text, id } = await send({ prompt: 'A long way to go [[fault/cut@3]]' });
      expect(said.error, text).not.toBeNull();
      expect(said.text).not.toBe('');
      expect(text).not.toMatch(/message_stop|response\.completed|\[DONE\]|"finishReason"/);
      expect((await stack.call(id)).endReason).toBe('upstream_error');
    });

    it('an error inside the stream reaches the client in the provider’s words', async () => {
      const { said, text, id } = await send({ prompt: 'A long way to go [[fault/error-event@3]]' });
      expect(said.error, text).not.toBeNull();
      expect(text).not.toMatch(/message_stop|response\.completed|"finishReason"/);
      expect((await stack.call(id)).endReason).toBe('upstream_error');
    });

    it.each(['slow-bytes', 'crlf', 'comments'])('no event is lost or doubled: %s', async (fault) => {
      const { said, text } = await send({ prompt: `Where? [[fault/${fault}]]`, schema: place });
      expect(said.error, text).toBeNull();
      expect(JSON.parse(said.text)).toEqual({ city: expect.any(String), degrees: expect.any(Number) });
      expect(said.outputTokens).toBeGreaterThan(10);
    });
  }

  it('cache marks of clients that have them reach providers that read them', async () => {
    const { status, text, received } = await send({ prompt: 'A long document', cached: true });
    expect(status, text).toBe(200);
    if (to === 'messages' && from === 'chat') expect(JSON.stringify(received)).toContain('cache_control');
  });
});

const noAnswer: Said = {
  text: '',
  calls: [],
  reason: null,
  inputTokens: 0,
  outputTokens: 0,
  turn: [],
  error: null,
};
