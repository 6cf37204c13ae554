import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askResponses } from '#tests/gateway/responses/call';
import { closeBalanced } from '#tests/support/books';
import { ask, bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf } from '#tests/support/wire';

describe('what a provider keeps of responses', () => {
  let stack: Stack;
  let key: string;
  let stranger: string;
  beforeAll(async () => {
    stack = await joinStack();
    key = (await stack.key((await stack.workspace({ rpm: 10_000 })).slug)).key;
    stranger = (await stack.key((await stack.workspace({ rpm: 10_000 })).slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function made(fields: Parameters<typeof askResponses>[2] = {}) {
    const asked = await askResponses(stack.url, key, fields);
    expect(asked.answer.status).toBe(200);
    const client = new OpenAI({ apiKey: key, baseURL: `${stack.url}/v1` });
    const { id } = jsonOf(asked.answer);
    return { ...asked, response: await client.responses.retrieve(String(id)) };
  }
  const continued = (fields: Parameters<typeof askResponses>[2], as = key) =>
    askResponses(stack.url, as, fields);
  const reasoner = { model: 'sandbox/reasoner', include: ['reasoning.encrypted_content'] };

  describe.concurrent('is continued', () => {
    it('at the provider that keeps it, without a look at the others', async () => {
      const { response } = await made({ model: 'test/responses-fall-back' });
      const next = await continued({ model: 'test/responses-fall-back', previous_response_id: response.id });
      expect(next.answer.status).toBe(200);
      expect(headerOf(next.answer, 'x-answered-provider')).toBe('drained');
      expect(headerOf(next.answer, 'x-attempts')).toBe('1');
    });

    it('by another model of that provider, and by none that it does not offer', async () => {
      const { response } = await made({ model: 'test/responses-fall-back' });
      const previous_response_id = response.id;
      const other = await continued({ model: 'test/responses-drained', previous_response_id });
      expect(other.answer.status).toBe(200);
      const elsewhere = await continued({ model: 'sandbox/echo', previous_response_id });
      expect([elsewhere.answer.status, codeOf(elsewhere.answer)]).toEqual([400, 'model_not_allowed']);
      expect(await stack.sandbox.seen(elsewhere.mark)).toEqual([]);
    });

    it('from the moment at which a stream shows its id', async () => {
      let next: ReturnType<typeof continued> | undefined;
      const leaveWhen = (raw: string) => {
        const id = /"id":"(resp_[0-9a-f]+)"/.exec(raw)?.[1];
        if (id) next ??= continued({ previous_response_id: id });
        return raw.includes('event: response.completed');
      };
      const { answer } = await askResponses(
        stack.url,
        key,
        { stream: true, directive: 'pace/10/30' },
        { leaveWhen },
      );
      expect(answer.status).toBe(200);
      expect((await next)?.answer.status).toBe(200);
    });

    it('item by item', async () => {
      const { response } = await made();
      const id = response.output[0]?.id ?? '';
      for (const item of [{ type: 'item_reference', id }, { id }]) {
        const next = await continued({ input: [item, { role: 'user', content: 'Go on' }] });
        expect(next.answer.status).toBe(200);
      }
    });

    it('by its encrypted reasoning, which goes back to where it was made', async () => {
      const { response } = await made(reasoner);
      const next = await continued({ ...reasoner, input: response.output });
      expect(next.answer.status).toBe(200);
      const elsewhere = await continued({ model: 'test/responses-drained', input: response.output });
      expect(codeOf(elsewhere.answer)).toBe('model_not_allowed');
      const [reasoning] = response.output;
      const foreign = await continued({ ...reasoner, input: [{ ...reasoning, id: 'rs_elsewhere' }] });
      expect(foreign.answer.status).toBe(200);
    });
  });

  describe.concurrent('is not found', () => {
    const unknown = [
      ['a response', { previous_response_id: 'resp_none' }],
      ['a conversation', { conversation: { id: 'conv_none' } }],
      ['an item', { input: [{ type: 'item_reference', id: 'msg_none' }] }],
      ['reasoning without its content', { input: [{ type: 'reasoning', id: 'rs_none', summary: [] }] }],
    ] as const;
    it.each(unknown)('where it never was: %s', async (_what, fields) => {
      const asked = await continued(fields);
      expect([asked.answer.status, codeOf(asked.answer)]).toEqual([404, 'not_found']);
      expect(await stack.sandbox.seen(asked.mark)).toEqual([]);
    });

    it('by another workspace, whatever it asks of it', async () => {
      const { response } = await made();
      const item = response.output[0]?.id ?? '';
      const asked = [
        await continued({ previous_response_id: response.id }, stranger),
        await continued({ input: [{ type: 'item_reference', id: item }] }, stranger),
      ].map(({ answer }) => answer);
      const path = `/v1/responses/${response.id}`;
      for (const [method, target] of [
        ['GET', path],
        ['GET', `${path}?stream=true`],
        ['GET', `${path}/input_items`],
        ['POST', `${path}/cancel`],
        ['DELETE', path],
      ] as const) {
        asked.push(await ask(stack.url, method, target, bearer(stranger)));
      }
      expect(asked.map((answer) => [answer.status, codeOf(answer)])).toEqual(
        asked.map(() => [404, 'not_found']),
      );
      expect((await ask(stack.url, 'GET', path, bearer(key))).status).toBe(200);
    });

    it('once it is deleted', async () => {
      const { response } = await made();
      const path = `/v1/responses/${response.id}`;
      const deleted = await ask(stack.url, 'DELETE', path, bearer(key));
      expect(jsonOf(deleted)).toEqual({ id: response.id, object: 'response', deleted: true });
      expect(codeOf(await ask(stack.url, 'GET', path, bearer(key)))).toBe('not_found');
      const next = await continued({ previous_response_id: response.id });
      expect(codeOf(next.answer)).toBe('not_found');
    });
  });

  it('is returned byte for byte as the provider sends it, and costs nothing', async () => {
    const { response } = await made();
    const target = `/v1/responses/${response.id}?include%5B%5D=message.output_text.logprobs`;
    const read = await ask(stack.url, 'GET', target, bearer(key));
    expect(headerOf(read, 'x-answered-provider')).toBe('sandbox');
    const call = await stack.call(headerOf(read, 'x-request-id') ?? '');
    expect(call).toMatchObject({ operation: 'responses.retrieve', cost: '0', usageSource: 'none' });
    const ended = await stack.sandbox.ended(headerOf(read, 'x-upstream-request-id') ?? '');
    expect(read.body.toString()).toBe(Buffer.from(ended.sent ?? '', 'base64').toString());
  });

  it('that was not made in the background cannot be cancelled: the provider says so', async () => {
    const { response } = await made();
    const answer = await ask(stack.url, 'POST', `/v1/responses/${response.id}/cancel`, bearer(key));
    expect([answer.status, codeOf(answer)]).toEqual([400, null]);
    expect((await ask(stack.url, 'GET', `/v1/responses/${response.id}`, bearer(key))).status).toBe(200);
  });

  it('lists its input in pages, by the client’s own query', async () => {
    const input = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }));
    const { response } = await made({ input });
    const path = `/v1/responses/${response.id}/input_items?limit=2&order=asc`;
    const page = jsonOf(await ask(stack.url, 'GET', path, bearer(key)));
    expect(page).toMatchObject({ data: [{ content: [{ text: 'a' }] }, {}], has_more: true });
    const rest = jsonOf(await ask(stack.url, 'GET', `${path}&after=${page.last_id}`, bearer(key)));
    expect(rest).toMatchObject({ data: [{ content: [{ text: 'c' }] }], has_more: false });
  });
});
