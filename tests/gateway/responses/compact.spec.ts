import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fairResponseNano } from '#tests/gateway/responses/call';
import { closeBalanced, costOf } from '#tests/support/books';
import { ask, bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { headerOf, type Wire } from '#tests/support/wire';
import { record } from '#tools/sandbox/content/tool-call';

describe('a compaction (contract: families/compaction)', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const path = '/v1/responses/compact';
  const newKey = async (settings: Parameters<Stack['key']>[1] = {}) =>
    (await stack.key((await stack.workspace({ rpm: 10_000 })).slug, settings)).key;
  const compact = (key: string, fields: object, headers: Readonly<Record<string, string>> = {}) =>
    ask(stack.url, 'POST', path, { ...bearer(key), ...headers }, JSON.stringify(fields));
  const connect = (apiKey: string) =>
    new OpenAI({ baseURL: `${stack.url}/v1`, apiKey, maxRetries: 0 }).responses;
  const endOf = (answer: Wire) => stack.sandbox.ended(headerOf(answer, 'x-upstream-request-id') ?? '');

  it('is called with the official SDK, and continued where it was made', async () => {
    const responses = connect(await newKey());
    const first = await responses.create({ model: 'sandbox/echo', input: 'Hello' });
    const made = await responses.compact({
      model: 'sandbox/echo',
      previous_response_id: first.id,
      input: [{ role: 'user', content: 'Remember this' }],
    });
    expect(made).toMatchObject({
      object: 'response.compaction',
      output: [{ role: 'user' }, { type: 'compaction' }],
    });
    const call = await stack.call(made._request_id ?? '');
    expect(call).toMatchObject({ operation: 'responses.compact', usageSource: 'reported' });
    const turn = { role: 'user' as const, content: 'Go on' };
    const input = [...(made.output as OpenAI.Responses.ResponseInputItem[]), turn];
    expect((await responses.create({ model: 'sandbox/echo', input })).status).toBe('completed');
    await expect(responses.create({ model: 'test/responses-drained', input })).rejects.toMatchObject({
      code: 'model_not_allowed',
    });
    await expect(responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('is charged by its usage, and relayed byte for byte', async () => {
    const answer = await compact(await newKey(), { model: 'sandbox/echo', input: `Say ${randomUUID()}` });
    const ended = await endOf(answer);
    expect(answer.body.toString()).toBe(Buffer.from(ended.sent ?? '', 'base64').toString());
    const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
    expect(costOf(call)).toBe(fairResponseNano(ended));
    expect(costOf(call)).toBeGreaterThan(0n);
  });

  it('is sent without a budget, whatever the maximum of its key', async () => {
    const key = await newKey({ maxOutputTokens: 16 });
    const body = { model: 'sandbox/echo', input: `Say ${randomUUID()} [[echo?tokens=40]]` };
    const answer = await compact(key, body);
    expect(answer.status).toBe(200);
    const [begun] = await stack.sandbox.seen(body.input);
    expect(JSON.parse(begun?.body ?? '')).toEqual({
      ...body,
      model: 'echo',
    });
  });

  it('does not give a workspace the items that it only repeats', async () => {
    const [owner, stranger] = [await newKey(), await newKey()];
    const first = await connect(owner).create({ model: 'sandbox/echo', input: 'Hello' });
    const id = first.output[0]?.id ?? '';
    // Its row is in the database then, and its ids with it.
    await stack.call(first._request_id ?? '');
    const own = { type: 'message', role: 'user', id, content: 'Mine' };
    const answer = await compact(stranger, { model: 'sandbox/echo', input: [own] });
    expect(record([jsonOf(answer).output].flat()[0]).id).toBe(id);
    const input = [{ type: 'item_reference', id }];
    const refused = await compact(stranger, { model: 'sandbox/echo', input });
    expect([refused.status, codeOf(refused)]).toEqual([404, 'not_found']);
    expect((await compact(owner, { model: 'sandbox/echo', input })).status).toBe(200);
  });

  it('of a response of another workspace is not found, and no provider is asked', async () => {
    const [owner, stranger] = [await newKey(), await newKey()];
    const { id } = await connect(owner).create({ model: 'sandbox/echo', input: 'Hello' });
    const mark = randomUUID();
    const body = { model: 'sandbox/echo', previous_response_id: id, input: mark };
    const refused = await compact(stranger, body);
    expect([refused.status, codeOf(refused)]).toEqual([404, 'not_found']);
    expect(await stack.sandbox.seen(mark)).toEqual([]);
  });

  it.each([
    [{ input: 'Hello' }, 'invalid_body'],
    [{ model: null, input: 'Hello' }, 'invalid_body'],
    [{ model: 'sandbox/echo', previous_response_id: 7 }, 'invalid_body'],
    [{ model: 'sandbox/none', input: 'Hello' }, 'model_not_allowed'],
    [{ model: 'sandbox/only-chat', input: 'Hello' }, 'model_not_allowed'],
  ])('is refused by our own checks: %j is %s', async (body, code) => {
    const answer = await compact(await newKey(), body);
    expect([answer.status, codeOf(answer)]).toEqual([400, code]);
  });
});
