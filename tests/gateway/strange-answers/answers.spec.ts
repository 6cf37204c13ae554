import { brotliCompressSync, createGzip, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addChains } from '#tests/gateway/routing/chains';
import {
  chunkOf,
  lastChunk,
  type RawProvider,
  startRawProvider,
  streamHead,
  wholeAnswer,
} from '#tests/gateway/strange-answers/raw-provider';
import { closeBalanced, costOf } from '#tests/support/books';
import { askChat } from '#tests/support/chat-call';
import { expectRefusal } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const price = 10n * 1_000n + 5n * 4_000n;
const whole = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'é'.repeat(500) }, finish_reason: 'stop' }],
  usage,
});
const event = (fields: object) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', ...fields })}\n\n`;
const piece = (content: string) => event({ choices: [{ index: 0, delta: { content } }] });
const told = event({ choices: [], usage });
const done = 'data: [DONE]\n\n';
const stream = `${piece('one')}${piece('two')}`;

const codings = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  identity: (text: string) => Buffer.from(text),
};

/** Providers that compress although `identity` was asked for, and others that speak no proper HTTP. */
describe('an answer (contract: request/compressed-answers, routing/unreadable-answer)', () => {
  let provider: RawProvider;
  let stack: Stack;
  let key: string;
  beforeAll(async () => {
    provider = await startRawProvider();
    stack = await joinStack();
    await addChains(stack, { 'strange/answers': [{ at: provider.url, name: 'echo' }] });
    key = (await stack.key((await stack.workspace({ rpm: 10_000 })).slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack).finally(() => provider.close());
  });

  const scripted = (name: string, wish: object = {}) =>
    askChat(stack.url, key, { model: 'strange/answers', directive: name, ...wish });

  it.each(Object.entries(codings))('whole, compressed with %s, is read and charged', async (coding, pack) => {
    const name = `whole-${coding}`;
    provider.on(name, (socket) => {
      socket.write(wholeAnswer('200 OK', pack(whole), [`content-encoding: ${coding}`]));
    });
    const asked = await scripted(name);
    expect(asked.answer).toMatchObject({ status: 200, whole: true });
    expect(asked.answer.body.toString()).toBe(whole);
    if (coding !== 'identity') expect(headerOf(asked.answer, 'content-encoding')).toBeUndefined();
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({ endReason: 'completed', usageSource: 'reported' });
    expect(costOf(call)).toBe(price);
  });

  it.each(Object.entries(codings))(
    'streamed, compressed with %s, is read and charged',
    async (coding, pack) => {
      const name = `stream-${coding}`;
      provider.on(name, (socket) => {
        const bytes = pack(stream + told + done);
        socket.write(streamHead([`content-encoding: ${coding}`]));
        // Cut anywhere: the pieces of a coding are none of the text.
        for (let at = 0; at < bytes.length; at += 7) socket.write(chunkOf(bytes.subarray(at, at + 7)));
        socket.write(lastChunk);
      });
      const asked = await scripted(name, { stream: true });
      expect(asked.answer).toMatchObject({ status: 200, whole: true });
      expect(asked.answer.body.toString()).toBe(stream + done);
      const call = await stack.call(asked.id);
      expect(call).toMatchObject({ endReason: 'completed', usageSource: 'reported' });
      expect(costOf(call)).toBe(price);
    },
  );

  it('that breaks off inside its coding ends with what had come and the error event', async () => {
    const decoded = Promise.withResolvers<void>();
    provider.on('torn', (socket) => {
      const gzip = createGzip();
      socket.write(streamHead(['content-encoding: gzip']));
      gzip.on('data', (bytes: Buffer) => socket.write(chunkOf(bytes)));
      gzip.write(stream);
      gzip.flush(() => decoded.promise.then(() => socket.destroy()));
    });
    const asked = await askChat(
      stack.url,
      key,
      { model: 'strange/answers', directive: 'torn', stream: true },
      {
        leaveWhen: (raw) => {
          if (raw.includes(piece('two'))) decoded.resolve();
          return raw.endsWith('\r\n0\r\n\r\n');
        },
      },
    );
    const text = asked.answer.body.toString();
    expect(text.startsWith(`${stream}data: {"error":`)).toBe(true);
    expect(asked.answer.whole).toBe(true);
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({ endReason: 'upstream_error', usageSource: 'estimated' });
    expect(costOf(call)).toBeGreaterThan(0n);
  });

  it('that is not in the coding it names is a failed attempt, and costs nothing', async () => {
    provider.on('miscoded', (socket) => {
      socket.write(Buffer.concat([Buffer.from(streamHead(['content-encoding: gzip'])), chunkOf(stream)]));
    });
    const asked = await scripted('miscoded', { stream: true });
    expectRefusal(asked.answer, 'upstream_request_failed', key);
    expect(await stack.call(asked.id)).toMatchObject({
      endReason: 'upstream_error',
      cost: '0',
      attempts: [{ status: null, error: 'bad_answer' }],
    });
  });

  it('in a coding that nobody here can undo passes as it is, and is charged by its bytes', async () => {
    const sealed = gzipSync(stream + told + done);
    provider.on('sealed', (socket) => {
      socket.write(streamHead(['content-encoding: aes128gcm']));
      socket.write(Buffer.concat([chunkOf(sealed), Buffer.from(lastChunk)]));
    });
    const asked = await scripted('sealed', { stream: true });
    expect(asked.answer).toMatchObject({ status: 200, whole: true });
    expect(asked.answer.body.equals(sealed)).toBe(true);
    const call = await stack.call(asked.id);
    expect(call).toMatchObject({ endReason: 'completed', usageSource: 'estimated' });
    expect(call.usage.output).toBe(Math.ceil(sealed.length / 4));
  });

  it('304 Not Modified has no body and arrives', async () => {
    provider.on('status-304', (socket) => {
      socket.write(
        'HTTP/1.1 304 Not Modified\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n',
      );
    });
    const { answer } = await scripted('status-304');
    expect(answer).toMatchObject({ status: 304, whole: true });
    expect(answer.body.length).toBe(0);
  });

  it.each([
    ['an error page under the type of JSON', wholeAnswer('200 OK', '<html>busy</html>')],
    [
      'an error page that is compressed',
      wholeAnswer('200 OK', gzipSync('<html>'), ['content-encoding: gzip']),
    ],
    [
      'an error page in place of a stream',
      Buffer.concat([Buffer.from(streamHead()), chunkOf('Bad gateway')]),
    ],
    ['an empty body', wholeAnswer('200 OK', '')],
    ['an empty stream', Buffer.from(`${streamHead()}${lastChunk}`)],
    ['no content', Buffer.from('HTTP/1.1 204 No Content\r\n\r\n')],
  ])('of status 2xx that is %s is a failed attempt, and costs nothing', async (what, bytes) => {
    const name = `unreadable ${what}`;
    provider.on(name, (socket) => {
      socket.write(bytes);
    });
    for (const stream of [false, true]) {
      const asked = await scripted(name, { stream });
      expectRefusal(asked.answer, 'upstream_request_failed', key);
      expect(await stack.call(asked.id)).toMatchObject({
        status: 502,
        cost: '0',
        endReason: 'upstream_error',
        attempts: [{ status: null, error: 'unreadable_answer' }],
      });
    }
  });

  it('that begins with white space, a comment or half a field name is relayed as it comes', async () => {
    for (const [at, opening] of ['\n\n', ': busy\n\n', 'da'].entries()) {
      const name = `late-opening-${at}`;
      const rest = opening === 'da' ? stream.slice(2) : stream;
      provider.on(name, (socket) => {
        socket.write(Buffer.concat([Buffer.from(streamHead()), chunkOf(opening)]));
        setTimeout(
          () => socket.write(Buffer.concat([chunkOf(rest + told + done), Buffer.from(lastChunk)])),
          50,
        );
      });
      const asked = await scripted(name, { stream: true });
      expect(asked.answer.body.toString()).toBe(opening + rest + done);
      expect(costOf(await stack.call(asked.id))).toBe(price);
    }
  });

  it('that is not 2xx shows no credential, wherever its provider echoes it, and keeps every other byte', async () => {
    const { key: credential } = stack.sandbox;
    const page = (secret: string) => `{"error":{"message":"Bearer ${secret} é","key":"${secret}"}}`;
    provider.on('echoes-credential', (socket, request) => {
      expect(request).toContain(`Bearer ${credential}`);
      const head = ['content-type: application/json', `etag: "${credential}"`, `x-request-id: ${credential}`];
      socket.write(
        `HTTP/1.1 422 ${credential}\r\n${head.join('\r\n')}\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      const bytes = Buffer.from(page(credential));
      for (let at = 0; at < bytes.length; at += 5) socket.write(chunkOf(bytes.subarray(at, at + 5)));
      socket.write(lastChunk);
    });
    const asked = await scripted('echoes-credential');
    expect(asked.answer.status).toBe(422);
    expect(JSON.stringify(asked.answer.headers)).not.toContain(credential);
    expect(asked.answer.body.toString()).toBe(page('*'.repeat(credential.length)));
    expect(headerOf(asked.answer, 'etag')).toBe(`"${'*'.repeat(credential.length)}"`);
    expect(JSON.stringify(await stack.call(asked.id))).not.toContain(credential);
  });

  it.each(['600 Odd', '999 Odd', '099 Odd'])('of status %s is none: 502', async (line) => {
    const name = `status-${line.slice(0, 3)}`;
    provider.on(name, (socket) => {
      socket.write(wholeAnswer(line, whole));
    });
    const asked = await scripted(name);
    expectRefusal(asked.answer, 'upstream_request_failed', key);
    expect(await stack.call(asked.id)).toMatchObject({
      status: 502,
      cost: '0',
      attempts: [{ status: null }],
    });
  });

  it.each([
    ['two lengths', `HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
    ['a length and chunks', `HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`],
    ['a length with a sign', `HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\n{}`],
    ['lines without CR', `HTTP/1.1 200 OK\ncontent-length: 2\n\n{}`],
    ['a folded header', `HTTP/1.1 200 OK\r\netag: a\r\n b\r\ncontent-length: 2\r\n\r\n{}`],
  ])('with %s is a bad answer: 502', async (name, bytes) => {
    provider.on(name, (socket) => {
      socket.write(bytes);
    });
    const asked = await scripted(name);
    expectRefusal(asked.answer, 'upstream_request_failed', key);
    const [attempt] = (await stack.call(asked.id)).attempts;
    expect(attempt).toMatchObject({ status: null, error: 'bad_answer' });
  });
});
