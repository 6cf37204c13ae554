import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { budgetToInject } from '#lib/core/families/family';
import { match } from '#lib/core/families/match';
import { askContent, readContent } from '#tests/unit/families/content/make';
import { makeModel } from '#tests/unit/families/make';

const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];

describe('the paths of the generate-content family (contract: families/prefixes)', () => {
  it.each(['v1', 'v1beta', 'v1alpha'])('serve every method under /%s, whatever the slug', (prefix) => {
    for (const [model, written] of [
      ['name', 'name'],
      ['vendor/name', 'vendor/name'],
      ['vendor/name', 'vendor%2Fname'],
      ['vendor/name:free', 'vendor/name:free'],
    ] as const) {
      for (const [verb, name] of [
        ['generateContent', 'content.generate'],
        ['streamGenerateContent', 'content.stream'],
        ['countTokens', 'content.count'],
      ] as const) {
        for (const colon of [':', '%3A']) {
          const matched = match('POST', `/${prefix}/models/${written}${colon}${verb}`);
          expect(matched).toMatchObject({ operation: { name }, params: { model } });
        }
      }
    }
  });

  it('do not affect the models lists', () => {
    expect(match('GET', '/v1/models/vendor/name')).toMatchObject({ operation: { name: 'models.read' } });
    expect(match('POST', '/v1/models')).toMatchObject({ code: 'method_not_allowed', allow: 'GET' });
    expect(match('GET', '/v1beta/models/a:generateContent')).toMatchObject({
      code: 'method_not_allowed',
      allow: 'POST',
    });
  });
});

describe('what a call of the generate-content family asks for', () => {
  it('has its model from the path, and streams by its method alone', () => {
    expect(askContent({ contents })).toMatchObject({ model: 'vendor/name', stream: false, budget: null });
    expect(askContent({ contents, stream: true }).stream).toBe(false);
    expect(askContent({ contents }, 'stream').stream).toBe(true);
    expect(askContent({ contents }, 'count')).toMatchObject({ model: 'vendor/name', stream: false });
  });

  it.each([
    [{ generationConfig: { maxOutputTokens: 5, candidateCount: 3 } }, 5, 3],
    [{ generation_config: { max_output_tokens: 6, candidate_count: 2 } }, 6, 2],
    [{ generationConfig: { max_output_tokens: 7 } }, 7, 1],
    [{ generation_config: { maxOutputTokens: 0 } }, 0, 1],
    [{ generationConfig: { maxOutputTokens: null, candidateCount: null } }, null, 1],
    [{ generationConfig: null, serviceTier: null }, null, 1],
    [{ generationConfig: {} }, null, 1],
  ])('reads budget and choices in every spelling: %j', (body, budget, choices) => {
    expect(askContent({ contents, ...body })).toMatchObject({ budget, choices });
  });

  it('reads the tier in both spellings', () => {
    expect(askContent({ contents, serviceTier: 'flex' }).serviceTier).toBe('flex');
    expect(askContent({ contents, service_tier: 'priority' }).serviceTier).toBe('priority');
    expect(askContent({ contents }).serviceTier).toBeNull();
  });

  it.each([
    ['{"generationConfig":{},"generation_config":{}}', 'generationConfig'],
    ['{"generationConfig":{"maxOutputTokens":1,"max_output_tokens":2}}', 'maxOutputTokens'],
    ['{"generationConfig":{"candidateCount":1,"candidate_count":2}}', 'candidateCount'],
    ['{"generationConfig":{"maxOutputTokens":1,"maxOutputTokens":1}}', 'maxOutputTokens'],
    ['{"generationconfig":{}}', 'generationConfig'],
    ['{"generation_config":{"MAX_OUTPUT_TOKENS":1}}', 'max_output_tokens'],
    ['{"serviceTier":"flex","service_tier":"flex"}', 'serviceTier'],
    ['{"generationConfig":[]}', 'generationConfig'],
    ['{"generationConfig":"x"}', 'generationConfig'],
    ['{"generationConfig":{"maxOutputTokens":"5"}}', 'maxOutputTokens'],
    ['{"generationConfig":{"maxOutputTokens":-1}}', 'maxOutputTokens'],
    ['{"generationConfig":{"maxOutputTokens":1.5}}', 'maxOutputTokens'],
    ['{"generationConfig":{"candidateCount":0}}', 'candidateCount'],
    ['{"serviceTier":2}', 'serviceTier'],
    ['{"model":7}', 'model'],
  ])('refuses %s and names the field', (body, field) => {
    const refused = readContent(body);
    if (!isRefusal(refused)) throw new Error('it was taken');
    expect(refused.code).toBe('invalid_body');
    expect(refused.message).toContain(field);
  });

  it.each([
    '{"generateContentRequest":[]}',
    '{"generateContentRequest":{"model":1}}',
    '{"generateContentRequest":{},"generate_content_request":{}}',
    '{"generateContentRequest":{"model":"a","model":"b"}}',
  ])('refuses to count %s', (body) => {
    expect(readContent(body, 'count')).toMatchObject({ code: 'invalid_body' });
  });

  it('has a budget to inject only where it generates', () => {
    const model = makeModel({ maxOutputTokens: 100 });
    expect(budgetToInject(askContent(), 50, model)).toBe(50);
    expect(budgetToInject(askContent({}, 'stream'), 50, model)).toBe(50);
    expect(budgetToInject(askContent({}, 'count'), 50, model)).toBeNull();
    expect(budgetToInject(askContent({ generationConfig: { maxOutputTokens: 1 } }), 50, model)).toBeNull();
    expect(budgetToInject(askContent({ generationConfig: { candidateCount: 4 } }), 50, model)).toBe(12);
  });

  it('weighs inline media apart from text, and counts the tools that search or fetch', () => {
    const data = 'QUJD'.repeat(1000);
    const parts = [
      { inlineData: { mimeType: 'image/png', data } },
      { inline_data: { data, mime_type: 'audio/wav' } },
      { inlineData: { mimeType: 'application/pdf', data } },
      { text: data },
    ];
    const body = JSON.stringify({ contents: [{ parts }] });
    expect(askContent(body).weight).toEqual({
      textBytes: body.length - 3 * data.length,
      images: 1,
      audioVideoBytes: data.length,
      fileBytes: data.length,
      searchTools: 0,
    });
    const tools = [
      { googleSearch: {} },
      { url_context: {} },
      { functionDeclarations: [{ name: 'googleSearch' }] },
    ];
    expect(askContent({ contents, tools }).weight.searchTools).toBe(2);
    expect(askContent({ contents, tools: [{ googleSearch: null }] }).weight.searchTools).toBe(0);
  });
});
