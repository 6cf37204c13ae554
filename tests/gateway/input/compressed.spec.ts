import { randomUUID } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBalanced } from '#tests/support/books';
import { bearer, receivedOf, seenOf } from '#tests/support/chat-call';
import { expectRefusal, expectRefusedRow } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { requestText, talk } from '#tests/support/wire';
import { formOf } from '#tests/unit/multipart/make';

const mebibyte = 1024 * 1024;
const codings = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const;

describe.each(['node', 'web'] as const)(
  'a compressed body over the %s lane (contract: body/compressed)',
  (lane) => {
    let stack: Stack;
    let key: string;
    beforeAll(async () => {
      stack = await joinStack(lane);
      key = (await stack.key((await stack.workspace({ rpm: 10_000, concurrency: 50 })).slug)).key;
    });
    afterAll(async () => {
      await closeBalanced(stack);
    });

    async function post(path: string, coding: string, body: Buffer, type = 'application/json') {
      const headers = { ...bearer(key), 'Content-Type': type, 'Content-Encoding': coding };
      const [answer] = (await talk(stack.url, requestText('POST', path, headers, body))).answers;
      if (!answer) throw new Error('no answer came');
      return answer;
    }

    describe.concurrent.each(codings)('in %s', (coding, compress) => {
      it.each([0, 600_000])('reaches the provider uncompressed, with %i bytes more', async (more) => {
        const mark = randomUUID();
        const messages = [{ role: 'user', content: `Say ${mark} 🌍${' padded'.repeat(more / 7)}` }];
        const body = Buffer.from(JSON.stringify({ model: 'sandbox/echo', messages, max_tokens: 3 }));
        const answer = await post('/v1/chat/completions', coding, compress(body));
        expect(answer.status).toBe(200);
        const { headers, bodyBytes } = await seenOf(stack, { mark });
        expect(headers).not.toHaveProperty('content-encoding');
        expect(Number(headers['content-length'])).toBe(bodyBytes);
        if (more === 0) expect(await receivedOf(stack, { mark })).toMatchObject({ messages });
        else expect(bodyBytes).toBeGreaterThan(more);
      });

      it('may be a form', async () => {
        const mark = randomUUID();
        const form = formOf('edge', [
          { name: 'image', filename: 'a.png', value: Buffer.alloc(mebibyte, mark) },
          { name: 'prompt', value: `green ${mark}` },
          { name: 'model', value: 'sandbox/picture' },
        ]);
        const answer = await post(
          '/v1/images/edits',
          coding,
          compress(form),
          'multipart/form-data; boundary=edge',
        );
        expect(answer.status, answer.body.toString()).toBe(200);
        const { headers, bodyBytes } = await seenOf(stack, { mark });
        expect(headers).not.toHaveProperty('content-encoding');
        expect(Number(headers['content-length'])).toBe(bodyBytes);
        expect(bodyBytes).toBeGreaterThan(mebibyte);
      });

      it('that decodes to more than may be sent is refused, and its row is written', async () => {
        const answer = await post('/v1/chat/completions', coding, compress(Buffer.alloc(33 * mebibyte, ' ')));
        const id = expectRefusal(answer, 'invalid_body');
        expect(answer.body.toString()).toContain('decodes to more than the limit of 33554432 bytes');
        await expectRefusedRow(stack, id, 'invalid_body');
      });

      it('that ends early is refused', async () => {
        const answer = await post(
          '/v1/chat/completions',
          coding,
          compress(Buffer.from('{"model":"m"}')).subarray(0, -1),
        );
        expectRefusal(answer, 'invalid_body');
      });
    });

    it.each([
      ['gzip, br', 'more than one Content-Encoding'],
      ['compress', 'not supported'],
    ])('in %s is refused and says what is read', async (coding, message) => {
      const answer = await post('/v1/chat/completions', coding, gzipSync('{}'));
      expectRefusal(answer, 'invalid_body');
      expect(answer.body.toString()).toContain(message);
    });
  },
);
