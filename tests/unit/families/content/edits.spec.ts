import { describe, expect, it } from 'vitest';
import type { OfferFacts } from '#lib/core/facts/snapshot';
import { applyEdits } from '#lib/core/families/edits';
import { generateContent } from '#lib/core/families/generate-content';
import { askContent, type ContentVerb } from '#tests/unit/families/content/make';
import { makeOffer } from '#tests/unit/families/make';

const offer = makeOffer({ upstreamModel: 'gemini-x' });

function sent(body: string, injectBudget: number | null = null, verb: ContentVerb = 'generate'): string {
  const ask = askContent(body, verb);
  return Buffer.from(applyEdits(ask.scan.body, generateContent.edits(ask, offer, injectBudget))).toString();
}

function pathOf(upstreamModel: string, verb: ContentVerb): string {
  const one: OfferFacts = makeOffer({ upstreamModel });
  return generateContent.upstreamPath(askContent({}, verb), one);
}

describe('the request that travels upstream (contract: families/path-model)', () => {
  it.each([
    ['gemini-x', 'generate', '/models/gemini-x:generateContent'],
    ['gemini-x', 'stream', '/models/gemini-x:streamGenerateContent'],
    ['gemini-x', 'count', '/models/gemini-x:countTokens'],
    ['models/gemini-x', 'count', '/models/gemini-x:countTokens'],
    ['tunedModels/mine', 'generate', '/tunedModels/mine:generateContent'],
    ['fault/cut@3?ms=1#', 'generate', '/models/fault/cut%403%3Fms%3D1%23:generateContent'],
  ] as const)('goes to the provider’s own name in the path: %s, %s', (name, verb, path) => {
    expect(pathOf(name, verb)).toBe(path);
  });

  it('is the client’s own body when nothing has to change', () => {
    const body =
      ' { "contents":[ {"parts":[{"text":"a","model":"b"}]} ], "generationConfig" : {"topK":1.0} } ';
    expect(sent(body)).toBe(body);
    const ask = askContent(body);
    expect(applyEdits(ask.scan.body, generateContent.edits(ask, offer, null))).toBe(ask.scan.body);
  });

  it.each([
    ['{"model":"models/vendor/name","contents":[]}', '{"model":"models/gemini-x","contents":[]}'],
    ['{"model" : "other" }', '{"model" : "models/gemini-x" }'],
    ['{"model":"models/gemini-x"}', '{"model":"models/gemini-x"}'],
    ['{"model":null}', '{"model":null}'],
  ])('names the provider’s model wherever the body names one: %s', (body, expected) => {
    expect(sent(body)).toBe(expected);
  });

  it.each([
    [
      '{"generateContentRequest":{"contents":[{"parts":[{"text":"x"}]}],"model":"models/vendor/name"}}',
      '{"generateContentRequest":{"contents":[{"parts":[{"text":"x"}]}],"model":"models/gemini-x"}}',
    ],
    [
      '{"generate_content_request":{"model":"a"} }',
      '{"generate_content_request":{"model":"models/gemini-x"} }',
    ],
    ['{"contents":[]}', '{"contents":[]}'],
  ])('and so does what is to be counted: %s', (body, expected) => {
    expect(sent(body, null, 'count')).toBe(expected);
  });

  it.each([
    ['{}', '{"generationConfig":{"maxOutputTokens":50}}'],
    ['{"contents":[] }\n', '{"contents":[] ,"generationConfig":{"maxOutputTokens":50}}\n'],
    ['{"generationConfig":null}', '{"generationConfig":{"maxOutputTokens":50}}'],
    ['{"generation_config":null}', '{"generation_config":{"maxOutputTokens":50}}'],
    ['{"generationConfig":{ }}', '{"generationConfig":{ "maxOutputTokens":50}}'],
    ['{"generationConfig":{"topK":1}}', '{"generationConfig":{"topK":1,"maxOutputTokens":50}}'],
    ['{"generation_config":{"top_k":1}}', '{"generation_config":{"top_k":1,"max_output_tokens":50}}'],
    [
      '{"generation_config":{"maxOutputTokens" : null,"top_k":1}}',
      '{"generation_config":{"maxOutputTokens" : 50,"top_k":1}}',
    ],
  ])('carries an injected budget in the config that is there: %s', (body, expected) => {
    expect(sent(body, 50)).toBe(expected);
    expect(sent(body, 50, 'stream')).toBe(expected);
    expect(askContent(expected).budget).toBe(50);
  });

  it('carries the credential as the family does, and no usage has to be asked for', () => {
    expect(generateContent.credentialHeader).toBe('x-goog-api-key');
    expect(generateContent.injectsUsage).toBeUndefined();
    expect(generateContent.breakFrame({ code: 'x', message: 'y' }, 3, undefined)).toBeNull();
  });
});
