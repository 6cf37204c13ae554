import { describe, expect, it } from 'vitest';
import type { Operation } from '#lib/families/family';
import { modelsAnswer, modelsOperations } from '#lib/families/models';
import { makeModel, makeOffer } from '#tests/unit/families/make';

const models = [
  makeModel({
    id: 'vendor/a',
    name: 'A',
    createdAtMs: 1_700_000_000_500,
    contextTokens: 10,
    maxOutputTokens: 5,
  }),
  makeModel({ id: 'b', offers: [makeOffer({ families: new Set(['generate-content']) })] }),
];

function operation(name: string, prefix: 'v1' | 'v1beta'): Operation {
  const found = modelsOperations.find((one) => one.name === name && one.prefixes.includes(prefix));
  if (!found) throw new Error(`no ${name}`);
  return found;
}

describe('GET /v1/models', () => {
  it('lists entries that the chat and the messages SDKs both read', () => {
    expect(modelsAnswer(operation('models.list', 'v1'), {}, {}, '', models)).toEqual({
      object: 'list',
      data: [
        {
          id: 'vendor/a',
          object: 'model',
          created: 1_700_000_000,
          owned_by: 'vendor',
          type: 'model',
          display_name: 'A',
          created_at: '2023-11-14T22:13:20.500Z',
        },
        expect.objectContaining({ id: 'b', owned_by: 'provider' }),
      ],
      has_more: false,
      first_id: 'vendor/a',
      last_id: 'b',
    });
    expect(modelsAnswer(operation('models.list', 'v1'), {}, {}, '', [])).toMatchObject({
      data: [],
      first_id: null,
      last_id: null,
    });
  });

  it('answers a client that shows its key the generate-content way in that shape', () => {
    const expected = {
      models: [
        expect.objectContaining({
          name: 'models/vendor/a',
          displayName: 'A',
          inputTokenLimit: 10,
          outputTokenLimit: 5,
          supportedGenerationMethods: [],
        }),
        expect.objectContaining({ supportedGenerationMethods: ['generateContent', 'countTokens'] }),
      ],
    };
    const list = operation('models.list', 'v1');
    expect(modelsAnswer(list, {}, { 'x-goog-api-key': 'k' }, '', models)).toEqual(expected);
    expect(modelsAnswer(list, {}, {}, 'pageSize=5&key=k', models)).toEqual(expected);
    expect(modelsAnswer(operation('models.list', 'v1beta'), {}, {}, '', models)).toEqual(expected);
  });
});

describe('GET /v1/models/{id}', () => {
  it('gives the one entry, or null for one that the key may not see', () => {
    const read = operation('models.read', 'v1');
    expect(modelsAnswer(read, { model: 'vendor/a' }, {}, '', models)).toMatchObject({ id: 'vendor/a' });
    expect(modelsAnswer(read, { model: 'c' }, {}, '', models)).toBeNull();
    expect(modelsAnswer(operation('models.read', 'v1beta'), { model: 'b' }, {}, '', models)).toMatchObject({
      name: 'models/b',
    });
  });
});
