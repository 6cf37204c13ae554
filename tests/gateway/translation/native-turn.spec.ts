import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clients } from '#tests/gateway/translation/clients';
import { closeBalanced } from '#tests/support/books';
import { ask, bearer, seenOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

let stack: Stack;
let key = '';
beforeAll(async () => {
  stack = await joinStack();
  const { slug } = await stack.workspace({ credit: '100', rpm: null, tpm: null, concurrency: null });
  ({ key } = await stack.key(slug));
});
afterAll(async () => {
  await closeBalanced(stack);
});

describe('a turn in the client’s own protocol after a translated one (contract: translation/thinking)', () => {
  it.each(clients.map((client) => ({ client, from: client.protocol })))(
    'of $from has no mark of the thinking of the turn before',
    async ({ client, from }) => {
      const wish = { tools: ['get_weather'], thinks: true } as const;
      const send = async (model: string, given: Partial<Parameters<typeof client.body>[2]>) => {
        const mark = randomUUID();
        const body = client.body(model, false, { ...wish, ...given, prompt: `Use get_weather: ${mark}` });
        const headers = { 'content-type': 'application/json', ...bearer(key) };
        const answer = await ask(stack.url, 'POST', client.path(model, false), headers, JSON.stringify(body));
        expect(answer.status, answer.body.toString()).toBe(200);
        const { body: received } = await seenOf(stack, { mark });
        return { answer, received, said: client.read(answer.body.toString(), false) };
      };
      // The simulated provider signs its thinking in these two protocols.
      const first = await send(`sandbox/only-${from === 'messages' ? 'responses' : 'messages'}`, {});
      expect(JSON.stringify(first.said.turn)).toContain('mgt1_');
      const second = await send('sandbox/reasoner', { after: { said: first.said, result: '21 degrees' } });
      expect(headerOf(second.answer, 'x-translated')).toBeUndefined();
      expect(second.received).toContain('21 degrees');
      expect(second.received).not.toContain('mgt1_');
    },
  );
});
