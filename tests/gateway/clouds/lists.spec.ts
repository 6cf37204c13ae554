import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { discoverModels } from '#lib/control/operations/provider/discover';
import { ask } from '#lib/control/operations/run';
import { type Access, createAccess } from '#lib/gateway/clouds/access';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import { createPools } from '#lib/gateway/upstream/pools';
import { systemClock } from '#lib/platform/clock';
import { type CloudStage, openStage } from '#tests/gateway/clouds/stage';
import { cloudKeys } from '#tests/support/clouds/clouds';
import { controlHost } from '#tests/support/control/operate';

let stage: CloudStage;
let access: Access;
let discover: (provider: string) => Promise<{
  readonly url: string;
  readonly data: readonly { upstreamModel: string; kind: string; families: readonly string[] }[];
  readonly more: boolean;
  readonly note: string | null;
  readonly failure: string | null;
}>;
const pools = createPools();
const logged: unknown[] = [];

/** A process that has no token yet. */
async function open(): Promise<void> {
  access?.stop();
  const { db, environment } = stage.stack;
  const catalogue = await loadCatalogue(db.pool, {
    envSecret: (name) => environment[name],
    sealingKey: null,
  });
  const parts = { clock: systemClock, pools, catalogue: () => catalogue, variable: () => null };
  access = createAccess({ ...parts, warn: (...told) => logged.push(told) });
  const host = { ...controlHost(db), pools, access, catalogue: async () => catalogue };
  const actor = { kind: 'operator', name: 'test', address: null } as const;
  discover = (provider) => ask(host, discoverModels, { actor, input: { provider } });
}

beforeAll(async () => {
  stage = await openStage();
  vi.stubEnv('AWS_ENDPOINT_URL_STS', `${stage.clouds.url}/sts`);
});
beforeEach(async () => {
  await stage.clouds.set();
  await open();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  access.stop();
  await Promise.all([pools.close(), stage.close()]);
});

const seen = (what: string) => stage.clouds.seen.filter((one) => one.what === what);
const namesOf = ({ data }: Awaited<ReturnType<typeof discover>>) =>
  data.map(({ upstreamModel, kind, families }) => [upstreamModel, kind, ...families]);

const bedrockNames = [
  ['openai.gpt-oss-120b-1:0', 'text', 'chat'],
  ['amazon.titan-embed-text-v2:0', 'embeddings'],
  ['stability.sd3-5-large-v1:0', 'other'],
  ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'text', 'messages'],
  ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', 'text', 'messages'],
  ['arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3d4e5f6', 'text', 'messages'],
];

describe('lists of models at clouds (contract: control-plane/clouds-lists)', () => {
  for (const id of ['bedrock-key', 'bedrock-keys', 'bedrock-role'])
    it(`Bedrock lists models and inference profiles to ${id}, page by page`, async () => {
      const found = await discover(id);
      expect(found).toMatchObject({
        url: `${stage.clouds.url}/foundation-models`,
        more: false,
        failure: null,
      });
      expect(namesOf(found)).toEqual(bedrockNames);
      expect(found.note).toContain('test a model after you have added it');
      expect(seen('bedrock lists').map(({ path, status }) => [path, status])).toEqual([
        ['/foundation-models', 200],
        ['/inference-profiles?maxResults=1000', 200],
        ['/inference-profiles?maxResults=1000&nextToken=page%2F2%2B%3D', 200],
      ]);
    });

  it('a clock that is four minutes off is corrected while a signed list is read', async () => {
    await stage.clouds.set({ aheadMs: 240_000 });
    expect(namesOf(await discover('bedrock-keys'))).toEqual(bedrockNames);
    expect(seen('bedrock lists').map(({ status }) => status)).toEqual([403, 200, 200, 200]);
  });

  it('an identity that may read one list of Bedrock gets it, and the name of the missing permission', async () => {
    await stage.clouds.set({ denied: ['bedrock:ListInferenceProfiles'] });
    const found = await discover('bedrock-keys');
    expect(namesOf(found)).toEqual(bedrockNames.slice(0, 3));
    expect(found.note).toMatch(
      /Not read: inference profiles \(.*403.*it needs the permission bedrock:ListInferenceProfiles; without it, enter the ids/,
    );
    await stage.clouds.set({ denied: ['bedrock:ListInferenceProfiles', 'bedrock:ListFoundationModels'] });
    for (const id of ['bedrock-keys', 'bedrock-key'])
      expect([id, (await discover(id)).failure]).toEqual([
        id,
        expect.stringContaining('it needs the permission bedrock:ListFoundationModels'),
      ]);
  });

  it('Vertex AI lists the models of each publisher that it serves itself, in the names for calls', async () => {
    const found = await discover('vertex');
    expect(found).toMatchObject({
      url: `${stage.clouds.url}/v1beta1/publishers/google/models`,
      more: false,
      failure: null,
    });
    expect(namesOf(found)).toEqual([
      ['gemini-3.7-flash', 'text', 'generate-content'],
      ['gemini-embedding-001', 'embeddings'],
      ['gemini-3-flash-live', 'other'],
      ['claude-sonnet-4-5@20250929', 'text', 'messages'],
      ['claude-opus-5', 'text', 'messages'],
      ['meta/llama-4-maverick-17b-128e-instruct-maas', 'text', 'chat'],
      ['xai/grok-4.20-reasoning', 'text', 'chat'],
    ]);
    const lists = seen('vertex lists');
    expect(lists.slice(0, 2).map(({ path }) => path)).toEqual([
      '/v1beta1/publishers/google/models?pageSize=100',
      '/v1beta1/publishers/google/models?pageSize=100&pageToken=3',
    ]);
    expect(new Set(lists.map(({ headers }) => headers['x-goog-user-project']))).toEqual(new Set(['p']));
    expect(seen('google token').length).toBe(1);
  });

  it('Vertex AI lists Gemini by the name of the OpenAI-compatible API if that is all that a provider has', async () => {
    expect(namesOf(await discover('vertex-workload'))[0]).toEqual([
      'google/gemini-3.7-flash',
      'text',
      'chat',
    ]);
  });

  it('an identity that may not use the project that the request names is asked without it', async () => {
    await stage.clouds.set({ denied: ['serviceusage.services.use'] });
    expect((await discover('vertex')).data.length).toBe(7);
    const [first, ...others] = seen('vertex lists');
    expect(first?.status).toBe(403);
    expect(others.every(({ status, headers }) => status === 200 && !('x-goog-user-project' in headers))).toBe(
      true,
    );
  });

  it('a publisher that is denied is a note, and all of them are an error that names the role', async () => {
    await stage.clouds.set({ denied: ['anthropic'] });
    const found = await discover('vertex');
    expect(found.data.map(({ upstreamModel }) => upstreamModel)).toContain('gemini-3.7-flash');
    expect(found.note).toContain('Not read: models of anthropic (the provider refused the credential (403)');
    await stage.clouds.set({ denied: ['publishers'] });
    expect((await discover('vertex')).failure).toMatch(
      /aiplatform\.publisherModels\.list.*it needs the role Vertex AI User in the project/,
    );
  });

  it('Azure lists what the resource may deploy, and says that these are no deployments', async () => {
    for (const id of ['azure-key', 'azure-entra']) {
      const found = await discover(id);
      expect(namesOf(found)).toEqual([
        ['gpt-4.1-2025-04-14', 'text', 'chat'],
        ['text-embedding-3-large-1', 'embeddings'],
      ]);
      expect(found.note).toContain('not its deployments');
    }
    await stage.clouds.set({ denied: ['models/read'] });
    expect((await discover('azure-entra')).failure).toContain(
      'it needs the role Cognitive Services OpenAI User on the resource',
    );
  });

  it('a revoked identity is a clear error, and neither answers nor the log have a secret', async () => {
    await stage.clouds.set({ revoked: true });
    const answers = [];
    for (const id of ['bedrock-key', 'bedrock-keys', 'bedrock-role', 'vertex', 'azure-key', 'azure-entra'])
      answers.push(await discover(id));
    for (const { failure } of answers) expect(failure).toEqual(expect.any(String));
    const audit = await stage.stack.db.prisma.audit.findMany({ where: { action: 'provider.discover' } });
    const written = JSON.stringify([answers, logged, audit.map(({ before, after }) => [before, after])]);
    const { entra, aws, bedrock, azure } = cloudKeys;
    for (const secret of [entra.clientSecret, aws.secretAccessKey, bedrock, azure, '-token-', 'session-'])
      expect(written).not.toContain(secret);
  });
});
