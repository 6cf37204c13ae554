import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { applyEdits } from '#lib/core/families/edits';
import { budgetToInject } from '#lib/core/families/family';
import { messages } from '#lib/core/families/messages';
import { nestedEdits } from '#lib/core/families/nested';
import { makeModel, makeOffer } from '#tests/unit/families/make';
import { askMessages, readMessages } from '#tests/unit/families/messages/make';

describe('what a messages body asks for (contract: admission/nested-budgets)', () => {
  it('a messages body without optional fields asks for the defaults', () => {
    expect(askMessages({ model: 'm', stream: null, max_tokens: null, service_tier: null })).toMatchObject({
      model: 'm',
      stream: false,
      budget: null,
      choices: 1,
      serviceTier: null,
    });
    expect(askMessages({ model: 'm' }).nested).toBeUndefined();
  });

  it('reads stream, budget and tier; a budget of 0 is legal', () => {
    const asked = { model: 'm', stream: true, max_tokens: 0, service_tier: 'standard_only' };
    expect(askMessages(asked)).toMatchObject({ stream: true, budget: 0, serviceTier: 'standard_only' });
    expect(askMessages({ ...asked, speed: 'fast' }).serviceTier).toBe('fast');
  });

  it('has the largest budget that any of its models is given', () => {
    const tools = [
      { type: 'advisor_20260301', model: 'a', max_tokens: 700 },
      { name: 'f', max_tokens: null },
    ];
    const fallbacks = [{ model: 'b', max_tokens: 900 }, { model: 'c' }];
    expect(askMessages({ model: 'm', max_tokens: 50, tools }).budget).toBe(700);
    expect(askMessages({ model: 'm', max_tokens: 50, tools, fallbacks }).budget).toBe(900);
    expect(askMessages({ model: 'm', max_tokens: 5_000, tools, fallbacks }).budget).toBe(5_000);
  });

  it('the key’s maximum is injected even if nested models have a budget', () => {
    const fallbacks = [{ model: 'b', max_tokens: 30 }];
    const model = makeModel({ maxOutputTokens: 1_000 });
    expect(budgetToInject(askMessages({ model: 'm', fallbacks }), 50, model)).toBe(50);
    expect(budgetToInject(askMessages({ model: 'm', fallbacks, max_tokens: 40 }), 50, model)).toBeNull();
  });

  it('gives its nested models with their places', () => {
    const body = `{"tools":[{"model":"a"},{"name":"model"}],"model":"m","fallbacks":[ {"model" : "b/c"},{"model":null}]}`;
    const { nested, scan } = askMessages(body);
    expect(nested?.map(({ slug, at }) => [slug, scan.body.subarray(at.start, at.end).toString()])).toEqual([
      ['a', '"a"'],
      ['b/c', '"b/c"'],
    ]);
  });

  it.each([
    ['{}', 'model'],
    ['{"model":5}', 'model'],
    ['{"model":"m","stream":"yes"}', 'stream'],
    ['{"model":"m","max_tokens":-1}', 'max_tokens'],
    ['{"model":"m","max_tokens":1.5}', 'max_tokens'],
    ['{"model":"m","service_tier":{}}', 'service_tier'],
    ['{"model":"m","tools":[{"model":1}]}', 'tools[].model'],
    ['{"model":"m","fallbacks":[{"model":["a"]}]}', 'fallbacks[].model'],
    ['{"model":"m","fallbacks":[{"max_tokens":"9"}]}', 'fallbacks[].max_tokens'],
  ])('refuses %s and names the field', (body, field) => {
    const refused = readMessages(body);
    if (!isRefusal(refused)) throw new Error('it was taken');
    expect(refused.code).toBe('invalid_body');
    expect(refused.message).toContain(`"${field}"`);
  });

  it('a nested name may occur only once in its element', () => {
    expect(() => readMessages('{"model":"m","fallbacks":[{"model":"a","model":"b"}]}')).toThrow('twice');
    expect(() => readMessages('{"model":"m","tools":[{"Model":"a"}]}')).toThrow('case');
  });

  it('a count has neither budget nor stream, but it has models', () => {
    const body = { model: 'm', max_tokens: -7, stream: 'x', tools: [{ model: 'a' }] };
    expect(askMessages(body, 'messages.count_tokens')).toMatchObject({
      model: 'm',
      stream: false,
      budget: null,
      nested: [{ slug: 'a' }],
    });
  });
});

describe('what a messages input weighs', () => {
  const data = 'QUJD'.repeat(1000);
  const weightOf = (content: unknown, rest: object = {}) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...rest });
    return { bytes: Buffer.byteLength(body), ...askMessages(body).weight };
  };
  const source = (type: string) => ({ type: 'base64', media_type: type, data });

  it('counts images and documents apart from text, inside tool results too', () => {
    const image = { type: 'image', source: source('image/png') };
    const paper = { type: 'document', source: source('application/pdf') };
    const result = { type: 'tool_result', tool_use_id: 't', content: [image] };
    const weight = weightOf([image, paper, result, { type: 'text', text: 'é'.repeat(900) }]);
    expect(weight).toMatchObject({ images: 2, fileBytes: 4_000, audioVideoBytes: 0 });
    expect(weight.textBytes).toBe(weight.bytes - 3 * 4_000);
  });

  it('thinking and its signature weigh as text', () => {
    const weight = weightOf([{ type: 'thinking', thinking: data, signature: data }]);
    expect(weight.textBytes).toBe(weight.bytes);
  });

  it('tools that search or fetch at the provider are counted only by their type', () => {
    const tools = [
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
      { type: 'web_fetch_20250910', name: 'web_fetch' },
      { type: 'web_searching_of_mine' },
      { type: 'custom', name: 'web_search', input_schema: { type: 'web_search_1' } },
    ];
    expect(weightOf('hi', { tools }).searchTools).toBe(2);
  });
});

describe('the messages body that travels upstream (contract: body/replaced)', () => {
  const sent = (body: string, upstreamModel: string, injectBudget: number | null = null) => {
    const ask = askMessages(body);
    const offers = new Map([['v/b', { upstreamModel: 'b-1' }]]);
    const edits = [
      ...messages.edits(ask, makeOffer({ upstreamModel }), injectBudget),
      ...nestedEdits(ask, offers),
    ];
    return Buffer.from(applyEdits(ask.scan.body, edits)).toString();
  };

  it('a messages body is the client’s own when nothing has to change', () => {
    const body = '{ "max_tokens":1e2,"model":"m" ,"system":[{"model":"m"}]}';
    expect(sent(body, 'm')).toBe(body);
  });

  it('carries the provider’s names of all its models, in place', () => {
    const body = '{"fallbacks":[{ "model" : "v/b" }],"model":"m","tools":[{"model":"v/b","name":"v/b"}]}';
    expect(sent(body, 'own-1')).toBe(
      '{"fallbacks":[{ "model" : "b-1" }],"model":"own-1","tools":[{"model":"b-1","name":"v/b"}]}',
    );
  });

  it('carries an injected budget', () => {
    expect(sent('{"model":"m"}', 'm', 50)).toBe('{"model":"m","max_tokens":50}');
    expect(sent('{"max_tokens":null,"model":"m"}', 'm', 50)).toBe('{"max_tokens":50,"model":"m"}');
  });

  it('goes to the operation’s own path with the family’s own credential', () => {
    const paths = ['messages.create', 'messages.count_tokens'].map((name) =>
      messages.upstreamPath(askMessages({ model: 'm' }, name), makeOffer()),
    );
    expect(paths).toEqual(['/messages', '/messages/count_tokens']);
    expect(messages.credentialHeader).toBe('x-api-key');
  });
});
