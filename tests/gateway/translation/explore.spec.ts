import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, bearer } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

let stack: Stack;
let key = '';
beforeAll(async () => {
  stack = await joinStack();
  const { slug } = await stack.workspace({ rpm: 10_000 });
  key = (await stack.key(slug)).key;
});
afterAll(() => stack.close());
const clients = {
  chat: (m: string, s: boolean) => ['/v1/chat/completions', { model: m, stream: s, max_tokens: 100, messages: [{ role: 'user', content: 'Hello there' }] }],
  responses: (m: string, s: boolean) => ['/v1/responses', { model: m, stream: s, input: 'Hello there', max_output_tokens: 100 }],
  messages: (m: string, s: boolean) => ['/v1/messages', { model: m, stream: s, max_tokens: 100, messages: [{ role: 'user', content: 'Hello there' }] }],
  'generate-content': (m: string, s: boolean) => [`/v1beta/models/${m}:${s ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, { contents: [{ role: 'user', parts: [{ text: 'Hello there' }] }], generationConfig: { maxOutputTokens: 100 } }],
} as const;
describe('x', () => {
  for (const [from, make] of Object.entries(clients))
    for (const to of Object.keys(clients))
      for (const stream of [false, true])
        if (from !== to)
          it(`${from} ${to} ${stream}`, async () => {
            const [path, body] = make(`sandbox/only-${to}`, stream);
            const answer = await ask(stack.url, 'POST', path as string, { 'content-type': 'application/json', ...bearer(key) }, JSON.stringify(body));
            console.log(from, to, stream, answer.status, JSON.stringify(answer.headers), '\n', answer.body.toString().slice(0, 6000));
            expect(answer.status).toBe(200);
          });
});
