import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { applyEdits } from '#lib/core/families/edits';
import { match } from '#lib/core/families/match';
import { nestedEdits } from '#lib/core/families/nested';
import { responses } from '#lib/core/families/responses';
import { makeOffer } from '#tests/unit/families/make';
import { askResponse, askStored, readResponse } from '#tests/unit/families/responses/make';

describe('what a request for a response asks for', () => {
  it('a request for a response without optional fields asks for the defaults', () => {
    const ask = askResponse({
      model: 'm',
      stream: null,
      max_output_tokens: null,
      background: null,
      tools: null,
    });
    expect(ask).toMatchObject({ model: 'm', stream: false, budget: null, choices: 1, serviceTier: null });
    for (const absent of ['nested', 'references', 'job']) expect(ask).not.toHaveProperty(absent);
  });

  it('reads stream, budget and tier', () => {
    const asked = { model: 'm', stream: true, max_output_tokens: 1e3, service_tier: 'flex' };
    expect(askResponse(asked)).toMatchObject({ stream: true, budget: 1_000, serviceTier: 'flex' });
  });

  it.each([
    ['{}', 'model'],
    ['{"prompt":{"id":"pmpt_1"},"input":"hi"}', 'model'],
    ['{"model":5}', 'model'],
    ['{"model":"m","stream":"yes"}', 'stream'],
    ['{"model":"m","background":1}', 'background'],
    ['{"model":"m","store":"no"}', 'store'],
    ['{"model":"m","max_output_tokens":-1}', 'max_output_tokens'],
    ['{"model":"m","max_output_tokens":1.5}', 'max_output_tokens'],
    ['{"model":"m","service_tier":{}}', 'service_tier'],
    ['{"model":"m","previous_response_id":7}', 'previous_response_id'],
    ['{"model":"m","conversation":7}', 'conversation'],
    ['{"model":"m","conversation":{"id":[]}}', 'conversation.id'],
    ['{"model":"m","tools":[{"model":1}]}', 'tools[].model'],
    ['{"model":"m","input":[{"tools":[{"model":1}]}]}', 'input[].tools[].model'],
  ])('refuses %s and names the field', (body, field) => {
    const refused = readResponse(body);
    if (!isRefusal(refused)) throw new Error('it was taken');
    expect(refused.code).toBe('invalid_body');
    expect(refused.message).toContain(`"${field}"`);
  });

  it.each([
    ['model', '"model":"m","\\u006dodel":"x"'],
    ['max_output_tokens', '"model":"m","max_output_tokens":1,"max_output_tokens":2'],
    ['previous_response_id', '"model":"m","previous_response_id":"a","previous_response_id":"b"'],
    ['background', '"model":"m","background":true,"background":false'],
    ['conversation.id', '"model":"m","conversation":{"id":"a","id":"b"}'],
    ['tools[].model', '"model":"m","tools":[{"model":"a","model":"b"}]'],
    ['input[].id', '"model":"m","input":[{"id":"a","id":"b"}]'],
    ['input[].type', '"model":"m","input":[{"type":"message","type":"item_reference"}]'],
  ])('takes %s once', (name, members) => {
    expect(() => readResponse(`{${members}}`)).toThrow(`"${name}" occurs twice`);
  });
});

describe('tools that the provider runs', () => {
  it.each(['web_search', 'mcp', 'code_interpreter', 'image_generation', 'shell'])(
    '%s is a tool that the provider runs',
    (type) => {
      expect(askResponse({ model: 'm', tools: [{ type: 'function' }, { type }] }).serverTools).toBe(true);
      expect(askResponse({ model: 'm', input: [{ tools: [{ type }] }] }).serverTools).toBe(true);
    },
  );

  it.each(['function', 'custom', 'local_shell', 'apply_patch', 'computer'])(
    '%s is not a tool that the provider runs',
    (type) => {
      expect(askResponse({ model: 'm', tools: [{ type }] })).not.toHaveProperty('serverTools');
    },
  );
});

describe('a response in the background', () => {
  it('a background response is a job, whole or streamed, unless it is not stored', () => {
    expect(askResponse({ model: 'm', background: true }).job).toEqual({});
    expect(askResponse({ model: 'm', background: true, stream: true, store: true })).toMatchObject({
      stream: true,
      job: {},
    });
    expect(askResponse({ model: 'm', background: true, store: false })).not.toHaveProperty('job');
    expect(askResponse({ model: 'm', background: false })).not.toHaveProperty('job');
  });

  it('remembers what its image tool’s model is called', () => {
    const tools = [{ type: 'image_generation', model: 'v/images' }];
    expect(askResponse({ model: 'm', background: true, tools }).job).toEqual({ imageModel: 'v/images' });
  });
});

describe('what a request continues (contract: jobs/pinning)', () => {
  const item = (fields: object) => askResponse({ model: 'm', input: [fields] }).references ?? [];
  const kept = { kind: 'item', id: 'x_1', required: true };

  it('a request continues a response, a conversation in either spelling, and the response that its cache is compared with', () => {
    expect(askResponse({ model: 'm', previous_response_id: 'resp_1' }).references).toEqual([
      { kind: 'response', id: 'resp_1', required: true },
    ]);
    const conversation = { kind: 'conversation', id: 'conv_1', required: true };
    expect(askResponse({ model: 'm', conversation: 'conv_1' }).references).toEqual([conversation]);
    expect(askResponse({ model: 'm', conversation: { id: 'conv_1' } }).references).toEqual([conversation]);
    const compared = { prompt_cache_options: { comparison_response_id: 'resp_2' } };
    expect(askResponse({ model: 'm', ...compared }).references).toMatchObject([{ id: 'resp_2' }]);
  });

  it.each([
    ['a reference', { type: 'item_reference', id: 'x_1' }],
    ['a reference that does not say so', { id: 'x_1' }],
    ['one with a type of null', { type: null, id: 'x_1' }],
    ['reasoning without its content', { type: 'reasoning', id: 'x_1', summary: [] }],
    ['reasoning whose content is null', { id: 'x_1', encrypted_content: null, type: 'reasoning' }],
    ['a picture without its data', { type: 'image_generation_call', id: 'x_1' }],
  ])('is an item that the provider keeps: %s', (_name, fields) => {
    expect(item(fields)).toEqual([kept]);
  });

  it.each([
    ['reasoning', { type: 'reasoning', id: 'x_1', encrypted_content: 'gAAA' }],
    ['a compaction', { encrypted_content: 'gAAA', id: 'x_1', type: 'compaction' }],
  ])('is encrypted %s if it is known', (_name, fields) => {
    expect(item(fields)).toEqual([{ ...kept, required: false }]);
  });

  it.each([
    ['a message', { type: 'message', id: 'x_1', role: 'assistant', content: [] }],
    ['a message that does not say so', { role: 'user', content: 'hi', id: 'x_1' }],
    ['a call', { type: 'function_call', id: 'x_1', name: 'f', arguments: '{}', call_id: 'c' }],
    ['a picture with its data', { type: 'image_generation_call', id: 'x_1', result: 'QUJD' }],
    ['reasoning without an id', { type: 'reasoning', encrypted_content: 'gAAA' }],
    ['an id inside something else', { type: 'function_call_output', output: [{ id: 'x_1' }], call_id: 'c' }],
  ])('is not an item that says it all itself: %s', (_name, fields) => {
    expect(item(fields)).toEqual([]);
  });

  it('a request continues a container that a tool shall run in or ran in, wherever it is named', () => {
    const container = { ...kept, id: 'cntr_1' };
    const interpreter = { type: 'code_interpreter', container: 'cntr_1' };
    expect(askResponse({ model: 'm', tools: [interpreter] }).references).toEqual([container]);
    const environment = { type: 'container_reference', container_id: 'cntr_1' };
    expect(askResponse({ model: 'm', tools: [{ type: 'shell', environment }] }).references).toEqual([
      container,
    ]);
    const later = { type: 'additional_tools', role: 'developer', tools: [interpreter] };
    expect(item(later)).toEqual([container]);
    const ran = { type: 'code_interpreter_call', id: 'ci_1', code: '1', container_id: 'cntr_1' };
    expect(item(ran)).toEqual([container]);
    expect(item({ type: 'shell_call', call_id: 'c', environment })).toEqual([container]);
    expect(item({ ...ran, container_id: null })).toEqual([]);
    const fresh = [
      { type: 'code_interpreter', container: { type: 'auto' } },
      { type: 'computer', environment: 'browser' },
    ];
    expect(askResponse({ model: 'm', tools: fresh })).not.toHaveProperty('references');
  });

  it('may be named a thousand times at most; beyond that, what may be unknown is skipped', () => {
    const many = (fields: object) => Array.from({ length: 1_001 }, (_, at) => ({ ...fields, id: `x_${at}` }));
    const refused = readResponse({ model: 'm', input: many({}) });
    expect(refused).toMatchObject({ code: 'invalid_body', message: expect.stringContaining('1000') });
    const sealed = many({ type: 'reasoning', encrypted_content: 'g' });
    expect(askResponse({ model: 'm', input: sealed }).references).toHaveLength(1_000);
    const input = [...sealed, { id: 'rs_1' }];
    expect(askResponse({ model: 'm', input }).references?.at(-1)).toMatchObject({
      id: 'rs_1',
      required: true,
    });
  });

  it('names each item once, by the stricter reading of its content', () => {
    const sealed = { type: 'reasoning', id: 'rs_1', encrypted_content: 'g' };
    const input = [sealed, { id: 'rs_1' }, sealed, { role: 'user', content: 'hi' }, { id: 'rs_2' }];
    expect(askResponse({ model: 'm', input }).references).toEqual([
      { kind: 'item', id: 'rs_1', required: true },
      { kind: 'item', id: 'rs_2', required: true },
    ]);
    expect(askResponse({ model: 'm', input: 'text' })).not.toHaveProperty('references');
  });
});

describe('what an input weighs', () => {
  const data = 'QUJD'.repeat(1_000);
  const weightOf = (content: unknown, rest: object = {}) => {
    const body = JSON.stringify({ model: 'm', input: [{ role: 'user', content }], ...rest });
    return { bytes: Buffer.byteLength(body), ...askResponse(body).weight };
  };

  it('counts images, sounds and files apart from text', () => {
    const weight = weightOf([
      { type: 'input_image', image_url: `data:image/png;base64,${data}` },
      { type: 'input_audio', input_audio: { data, format: 'wav' } },
      { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` },
      { type: 'input_text', text: 'é'.repeat(900) },
    ]);
    expect(weight).toMatchObject({ images: 1, audioVideoBytes: 4_000, fileBytes: expect.any(Number) });
    expect(weight.fileBytes).toBeGreaterThanOrEqual(4_000);
    expect(weight.textBytes).toBeLessThan(weight.bytes - 12_000);
  });

  it('takes a picture that an earlier answer made for an image, encrypted reasoning for text', () => {
    const made = { type: 'image_generation_call', id: 'ig', result: data };
    expect(askResponse({ model: 'm', input: [made] }).weight).toMatchObject({ images: 1, fileBytes: 0 });
    const body = JSON.stringify({ model: 'm', input: [{ type: 'reasoning', encrypted_content: data }] });
    expect(askResponse(body).weight).toMatchObject({ textBytes: Buffer.byteLength(body), images: 0 });
  });

  it('counts the tools that search at the provider, wherever they are declared', () => {
    const tools = [
      { type: 'web_search' },
      { type: 'web_search_preview_2025_03_11' },
      { type: 'file_search', vector_store_ids: ['v'] },
      { type: 'x_search' },
      { type: 'tool_search' },
      { type: 'function', name: 'web_search', parameters: { type: 'web_search' } },
    ];
    expect(weightOf('hi', { tools }).searchTools).toBe(4);
    const later = [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }] }];
    expect(askResponse({ model: 'm', input: later }).weight.searchTools).toBe(1);
  });
});

describe('the body that travels upstream', () => {
  const sent = (body: string, upstreamModel: string, injectBudget: number | null = null) => {
    const ask = askResponse(body);
    const offers = new Map([['v/images', { upstreamModel: 'images-1' }]]);
    const own = responses.edits(ask, makeOffer({ upstreamModel }), injectBudget);
    return Buffer.from(applyEdits(ask.scan.body, [...own, ...nestedEdits(ask, offers)])).toString();
  };

  it('is the client’s own when nothing has to change', () => {
    const body = '{ "max_output_tokens":1e2,"model":"m" ,"input":[{"content":"model"}], "x":1.0}';
    expect(sent(body, 'm')).toBe(body);
  });

  it('carries the provider’s names of all its models, in place', () => {
    const tool = (model: string) => `{"type":"image_generation", "model" : "${model}","name":"v/images"}`;
    const body = (model: string, image: string) =>
      `{"tools":[${tool(image)}],"input":[{"type":"additional_tools","tools":[${tool(image)}]}],"model":"${model}"}`;
    expect(sent(body('m', 'v/images'), 'own-1')).toBe(body('own-1', 'images-1'));
  });

  it('carries an injected budget', () => {
    expect(sent('{"model":"m"}', 'm', 50)).toBe('{"model":"m","max_output_tokens":50}');
    expect(sent('{"max_output_tokens":null,"model":"m"}', 'm', 50)).toBe(
      '{"max_output_tokens":50,"model":"m"}',
    );
    expect(responses.injectsUsage).toBeUndefined();
  });
});

describe('the operations', () => {
  it.each([
    ['POST', '/v1/responses', 'responses.create', '/responses'],
    ['GET', '/v1/responses/resp_1', 'responses.retrieve', '/responses/resp_1'],
    ['DELETE', '/v1/responses/resp_1', 'responses.delete', '/responses/resp_1'],
    ['POST', '/v1/responses/resp_1/cancel', 'responses.cancel', '/responses/resp_1/cancel'],
    ['GET', '/v1/responses/resp_1/input_items', 'responses.input_items', '/responses/resp_1/input_items'],
  ])('%s %s is %s', (method, path, name, upstream) => {
    const matched = match(method, path);
    if (isRefusal(matched)) throw new Error(matched.message);
    expect(matched.operation.name).toBe(name);
    const ask = { ...askStored(name, matched.params.id ?? ''), params: matched.params };
    expect(responses.upstreamPath(ask, makeOffer())).toBe(upstream);
  });

  it('are forwarded with the id encoded, whatever it contains', () => {
    const ask = askStored('responses.retrieve', 'a?b#c %/..');
    expect(responses.upstreamPath(ask, makeOffer())).toBe('/responses/a%3Fb%23c%20%25%2F..');
    const poll = responses.jobs?.pollPath({ id: 'a?b/c', upstreamModel: 'm' });
    expect(poll).toBe('/responses/a%3Fb%2Fc');
  });

  it('are forwarded with the operator’s credential as bearer token', () => {
    expect(responses.credentialHeader).toBe('authorization');
  });

  it('operations that are not on the list are not served', () => {
    expect(match('POST', '/v1/responses/compress')).toMatchObject({ code: 'not_found' });
    expect(match('GET', '/v1/responses')).toMatchObject({ code: 'method_not_allowed' });
    expect(match('GET', '/v1/responses/resp_1/output_items')).toMatchObject({ code: 'not_found' });
  });
});
