import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readAzureModels,
  readFoundationModels,
  readInferenceProfiles,
  readPublisherModels,
} from '#lib/control/providers/cloud-lists';
import { listPlaceOf } from '#lib/control/providers/list-places';
import { familiesFor, readModelList } from '#lib/control/providers/model-list';
import type { Address } from '#lib/core/facts/snapshot';
import type { FamilyId } from '#lib/core/families/ids';
import { azureModels, modelSummaries, profileSummaries } from '#tests/support/clouds/lists';

const places = (auth: 'aws-sigv4' | 'google-service-account' | 'entra-id', addresses: object) => {
  const families = new Map(
    Object.entries(addresses).map(([family, url]): [FamilyId, Address] => [
      family as FamilyId,
      { state: 'ready', url: new URL(url) },
    ]),
  );
  const place = listPlaceOf({ families, credentialHeaders: new Map(), auth: { kind: auth } });
  return place?.lists.map(({ url }) => url.href);
};

describe('lists of models at clouds (contract: control-plane/clouds-lists)', () => {
  it('foundation models of Bedrock have their kind, input and other names, and say whether calls can name them', () => {
    const read = readFoundationModels({ modelSummaries })?.entries ?? [];
    expect(
      read.map(({ upstreamModel, kind, uncallable }) => [upstreamModel, kind, uncallable ?? false]),
    ).toEqual([
      ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'text', true],
      ['openai.gpt-oss-120b-1:0', 'text', false],
      ['amazon.nova-lite-v1:0:300k', 'text', true],
      ['amazon.titan-embed-text-v2:0', 'embeddings', false],
      ['stability.sd3-5-large-v1:0', 'other', false],
    ]);
    expect(read[0]).toMatchObject({
      name: 'Claude Sonnet 4.5',
      input: ['text', 'image'],
      abilities: { images: true },
      knownAs: ['claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
    });
    expect(read[1]).toMatchObject({
      input: ['text'],
      abilities: { images: false },
      knownAs: ['gpt-oss-120b-1:0', 'gpt-oss-120b'],
    });
  });

  it('inference profiles of Bedrock have the facts of the model behind them, also if their name does not say it', () => {
    const models = readFoundationModels({ modelSummaries })?.entries ?? [];
    const page = readInferenceProfiles(
      { inferenceProfileSummaries: profileSummaries, nextToken: 't' },
      models,
    );
    expect(page?.next).toEqual({ maxResults: '1000', nextToken: 't' });
    const own = page?.entries[2];
    expect(own).toMatchObject({
      upstreamModel: 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3d4e5f6',
      name: 'Billing of a team',
      input: ['text', 'image'],
    });
    expect(own).not.toHaveProperty('uncallable');
    expect(own && familiesFor(own, ['chat', 'messages'], { messages: 'bedrock' })).toEqual(['messages']);
    const [first] = readInferenceProfiles({ inferenceProfileSummaries: profileSummaries }, [])?.entries ?? [];
    expect(first).toMatchObject({ kind: 'text', input: null });
    expect(first?.knownAs).toContain('claude-sonnet-4-5');
    const inactive = { ...profileSummaries[0], status: 'CREATING' };
    expect(readInferenceProfiles({ inferenceProfileSummaries: [inactive] }, [])?.entries).toEqual([]);
  });

  it.each([
    ['google', 'gemini-3.7-flash', 'default', 'gemini-3.7-flash'],
    ['google', 'gemma-4-26b-maas', '001', 'google/gemma-4-26b-maas'],
    ['google', 'imagen-4.0', '', null],
    ['anthropic', 'claude-sonnet-4-5', '20250929', 'claude-sonnet-4-5@20250929'],
    ['anthropic', 'claude-sonnet-4-5@20250929', '20250929', 'claude-sonnet-4-5@20250929'],
    ['anthropic', 'claude-opus-5', 'default', 'claude-opus-5'],
    ['meta', 'llama-4-scout-maas', '', 'meta/llama-4-scout-maas'],
    ['meta', 'llama3', 'llama-3-8b', null],
    ['xai', 'grok-4', '001', 'xai/grok-4'],
  ])(
    'the model of %s at Vertex AI, %s in version "%s", is called as %s',
    (publisher, model, versionId, name) => {
      const body = { publisherModels: [{ name: `publishers/${publisher}/models/${model}`, versionId }] };
      const read = readPublisherModels(body, publisher, true)?.entries.map(
        ({ upstreamModel }) => upstreamModel,
      );
      expect(read).toEqual(name === null ? [] : [name]);
    },
  );

  it('a publisher without models is an empty list, and another publisher’s model is left out', () => {
    expect(readPublisherModels({}, 'qwen', true)).toEqual({ entries: [], next: null });
    expect(readPublisherModels({ error: {} }, 'qwen', true)).toBeNull();
    const strange = [{ name: 'publishers/hf-x/models/a-maas' }, { name: 'a-maas' }, { name: 7 }];
    expect(readPublisherModels({ publisherModels: strange }, 'qwen', true)?.entries).toEqual([]);
  });

  it('models of Azure for fine-tuning only cannot be called, and dates are no part of the model’s other name', () => {
    const read = readAzureModels(readModelList(azureModels), azureModels);
    expect(read?.entries.map(({ kind, uncallable, knownAs }) => [kind, uncallable, knownAs])).toEqual([
      ['text', undefined, ['gpt-4.1']],
      ['embeddings', undefined, undefined],
      ['text', true, undefined],
    ]);
  });

  it('the lists of Bedrock are at its control plane in the region of the address', () => {
    const at = (host: string) => places('aws-sigv4', { messages: `https://${host}` })?.[0];
    expect(at('bedrock-runtime.eu-west-1.amazonaws.com')).toBe(
      'https://bedrock.eu-west-1.amazonaws.com/foundation-models',
    );
    expect(at('bedrock-runtime-fips.us-gov-west-1.amazonaws.com')).toBe(
      'https://bedrock-fips.us-gov-west-1.amazonaws.com/foundation-models',
    );
    expect(at('bedrock-runtime.us-east-1.amazonaws.com.evil.example')).toBe(
      'https://bedrock-runtime.us-east-1.amazonaws.com.evil.example/foundation-models',
    );
    expect(at('bedrock-mantle.us-east-1.api.aws/anthropic/v1')).toBe(
      'https://bedrock-mantle.us-east-1.api.aws/anthropic/v1/models',
    );
    expect(places('aws-sigv4', { chat: 'https://proxy.example/aws/openai/v1' })).toEqual([
      'https://proxy.example/aws/foundation-models',
      'https://proxy.example/aws/inference-profiles',
    ]);
  });

  it('the lists of Vertex AI are those of the publishers whose protocols the provider has', () => {
    const root = 'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1';
    const lists = 'https://europe-west1-aiplatform.googleapis.com/v1beta1/publishers';
    expect(places('google-service-account', { messages: `${root}/publishers/anthropic` })).toEqual([
      `${lists}/anthropic/models`,
    ]);
    expect(places('google-service-account', { chat: `${root}/endpoints/openapi` })?.slice(0, 2)).toEqual([
      `${lists}/google/models`,
      `${lists}/meta/models`,
    ]);
    expect(places('google-service-account', { 'generate-content': 'https://proxy.example/g' })).toEqual([
      'https://proxy.example/g/models',
    ]);
  });

  it('no JSON whatever makes a reader throw, or gives a name that cannot be sent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (row, other) => {
        const bodies: readonly unknown[] = [
          row,
          { modelSummaries: [row, { modelId: other }], inferenceProfileSummaries: [row, { models: other }] },
          { inferenceProfileSummaries: [{ inferenceProfileId: other, models: [row] }], nextToken: other },
          { publisherModels: [row, { name: other, versionId: row, supportedActions: other }] },
          { data: [row, { id: other, capabilities: row }] },
        ];
        for (const body of bodies) {
          const pages = [
            readFoundationModels(body),
            readInferenceProfiles(body, []),
            readPublisherModels(body, 'google', true),
            readAzureModels(readModelList(body), body),
          ];
          for (const { upstreamModel } of pages.flatMap((page) => page?.entries ?? []))
            expect(upstreamModel).not.toBe('');
        }
      }),
    );
  });
});
