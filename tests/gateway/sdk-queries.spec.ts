import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { make, type Possessions } from '#tests/gateway/resources/possessions';
import { closeBalanced } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

const model = 'sandbox/echo';

describe('the query of each method that official SDKs have one for', () => {
  let stack: Stack;
  let key: string;
  let kept: Possessions;
  /** A response that can be streamed again. */
  let streamed: string;
  beforeAll(async () => {
    stack = await joinStack();
    key = (await stack.key((await stack.workspace({ rpm: 10_000 })).slug)).key;
    kept = await make({ url: stack.url, key });
    const wish = { model: 'test/job-stream', input: 'Hello', background: true, stream: true } as const;
    for await (const event of await openai().responses.create(wish)) {
      if (event.type === 'response.created') streamed = event.response.id;
    }
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const openai = () => new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: key, maxRetries: 0 });
  const anthropic = () => new Anthropic({ baseURL: stack.url, apiKey: key, maxRetries: 0 });
  const google = () => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: stack.url } });
  const turn = [{ role: 'user' as const, content: 'Hello' }];

  /** Reads an answer to its end, whatever it is. */
  async function readOut(answer: unknown): Promise<void> {
    if (answer instanceof Response) await answer.arrayBuffer();
    else if (typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer) {
      for await (const _ of answer as AsyncIterable<unknown>);
    }
  }

  const calls: Readonly<Record<string, readonly [() => Promise<unknown>, query: string]>> = {
    'openai responses.retrieve': [
      () => openai().responses.retrieve(kept.response, { include: ['reasoning.encrypted_content'] }),
      'include[]=reasoning.encrypted_content',
    ],
    'openai responses.retrieve, streamed': [
      () =>
        openai().responses.retrieve(streamed, {
          stream: true,
          starting_after: 0,
          include_obfuscation: false,
        }),
      'stream=true&starting_after=0&include_obfuscation=false',
    ],
    'openai responses.inputItems.list': [
      () =>
        openai().responses.inputItems.list(kept.response, {
          include: ['message.input_image.image_url', 'file_search_call.results'],
          limit: 1,
          order: 'asc',
        }),
      'include[]=message.input_image.image_url&include[]=file_search_call.results&limit=1&order=asc',
    ],
    'openai chat.completions.messages.list': [
      () => openai().chat.completions.messages.list(kept.completion, { limit: 1, order: 'asc' }),
      'limit=1&order=asc',
    ],
    'openai conversations.items.list': [
      () =>
        openai().conversations.items.list(kept.conversation, {
          include: ['reasoning.encrypted_content'],
          limit: 1,
          order: 'desc',
        }),
      'include[]=reasoning.encrypted_content&limit=1&order=desc',
    ],
    'openai conversations.items.create': [
      () =>
        openai().conversations.items.create(kept.conversation, {
          items: turn,
          include: ['reasoning.encrypted_content'],
        }),
      'include[]=reasoning.encrypted_content',
    ],
    'openai videos.downloadContent': [
      () => openai().videos.downloadContent(kept.video, { variant: 'video' }),
      'variant=video',
    ],
    'anthropic messages.create, which has none': [
      () => anthropic().messages.create({ model, max_tokens: 5, messages: turn }),
      '',
    ],
    'anthropic beta.messages.create, which has none': [
      () => anthropic().beta.messages.create({ model, max_tokens: 5, messages: turn, stream: true }),
      '',
    ],
    'google models.generateContent, which has none': [
      () => google().models.generateContent({ model, contents: 'Hello' }),
      '',
    ],
    'google models.generateContentStream': [
      () => google().models.generateContentStream({ model, contents: 'Hello' }),
      'alt=sse',
    ],
  };

  /** What the provider saw of requests with these ids; other specs call it at the same time. */
  async function queriesOf(ids: readonly string[]): Promise<string[]> {
    const lines = await Promise.all(ids.map((id) => stack.sandbox.lines({ event: 'begin', id })));
    return lines.flat().flatMap((line) => (line.event === 'begin' ? [line.query] : []));
  }

  it.each(Object.entries(calls))('%s reaches the provider as it was sent', async (_, [call, query]) => {
    const sent: string[] = [];
    const ids: string[] = [];
    const send = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      // Not of something that an earlier file has left waiting.
      if (url.origin !== stack.url) return send(input, init);
      sent.push(url.search.slice(1));
      const answer = await send(input, init);
      ids.push(answer.headers.get('x-upstream-request-id') ?? '');
      return answer;
    });
    await readOut(await call());
    vi.restoreAllMocks();
    expect(sent.map(decodeURIComponent)).toEqual([query]);
    const seen = await queriesOf(ids);
    expect(seen.map((text) => [...new URLSearchParams(text)])).toEqual([[...new URLSearchParams(query)]]);
  });

  it.each([
    ['/v1/chat/completions', { model, messages: turn }],
    ['/v1/responses', { model, input: 'Hello' }],
    ['/v1/images/generations', { model: 'sandbox/picture', prompt: 'Hello' }],
  ])('POST %s has no query that would choose what of the answer is told', async (path, body) => {
    const answer = await fetch(`${stack.url}${path}?%24fields=choices&fields=choices&alt=proto&include[]=x`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    expect(await queriesOf([answer.headers.get('x-upstream-request-id') ?? ''])).toEqual(['']);
    const call = await stack.call(answer.headers.get('x-request-id') ?? '');
    expect(call.usageSource).toBe('reported');
    await answer.text();
  });
});
