import { type Asked, bearerFor, type Given, given, state } from '#tests/support/clouds/books';

/** The lists of models of the clouds, in the forms that their documentation has. */

const region = 'arn:aws:bedrock:eu-west-1:';

const foundationModel = (modelId: string, modelName: string, facts: object = {}) => ({
  modelArn: `${region}:foundation-model/${modelId}`,
  modelId,
  modelName,
  providerName: 'A vendor',
  inputModalities: ['TEXT', 'IMAGE'],
  outputModalities: ['TEXT'],
  responseStreamingSupported: true,
  customizationsSupported: [],
  inferenceTypesSupported: ['ON_DEMAND'],
  modelLifecycle: { status: 'ACTIVE' },
  ...facts,
});

export const modelSummaries = [
  foundationModel('anthropic.claude-sonnet-4-5-20250929-v1:0', 'Claude Sonnet 4.5', {
    inferenceTypesSupported: ['INFERENCE_PROFILE'],
  }),
  foundationModel('openai.gpt-oss-120b-1:0', 'gpt-oss-120b', { inputModalities: ['TEXT'] }),
  foundationModel('amazon.nova-lite-v1:0:300k', 'Nova Lite', { inferenceTypesSupported: ['PROVISIONED'] }),
  foundationModel('amazon.titan-embed-text-v2:0', 'Titan Text Embeddings V2', {
    inputModalities: ['TEXT'],
    outputModalities: ['EMBEDDING'],
  }),
  foundationModel('stability.sd3-5-large-v1:0', 'Stable Diffusion 3.5 Large', {
    outputModalities: ['IMAGE'],
  }),
];

const claude = 'foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0';
const profile = (id: string, name: string, facts: object = {}) => ({
  inferenceProfileName: name,
  inferenceProfileArn: `${region}123456789012:inference-profile/${id}`,
  inferenceProfileId: id,
  models: [{ modelArn: `${region}:${claude}` }, { modelArn: `arn:aws:bedrock:eu-north-1::${claude}` }],
  status: 'ACTIVE',
  type: 'SYSTEM_DEFINED',
  ...facts,
});

export const profileSummaries = [
  profile('eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'EU Claude Sonnet 4.5'),
  profile('global.anthropic.claude-sonnet-4-5-20250929-v1:0', 'Global Claude Sonnet 4.5'),
  profile('a1b2c3d4e5f6', 'Billing of a team', {
    type: 'APPLICATION',
    inferenceProfileArn: `${region}123456789012:application-inference-profile/a1b2c3d4e5f6`,
  }),
];

/** After the signature or the API key was accepted. The profiles come on pages of two. */
export function bedrockLists({ path }: Asked): Given {
  const { pathname, searchParams } = new URL(path, 'http://bedrock');
  const models = pathname.endsWith('/foundation-models');
  const action = models ? 'bedrock:ListFoundationModels' : 'bedrock:ListInferenceProfiles';
  if (state.denied.includes(action)) {
    const who = 'arn:aws:iam::123456789012:user/gateway';
    return given(403, {
      message: `User: ${who} is not authorized to perform: ${action} because no identity-based policy allows the ${action} action`,
    });
  }
  if (models) return given(200, { modelSummaries });
  const token = searchParams.get('nextToken');
  const most = Number(searchParams.get('maxResults'));
  if ((token !== null && token !== 'page/2+=') || !(most >= 1 && most <= 1000))
    return given(400, { message: 'The request is not valid.' });
  return token === null
    ? given(200, { inferenceProfileSummaries: profileSummaries.slice(0, 2), nextToken: 'page/2+=' })
    : given(200, { inferenceProfileSummaries: profileSummaries.slice(2) });
}

const names: Readonly<Record<string, readonly string[]>> = {
  google: ['gemini-3.7-flash', 'gemini-embedding-001', 'imagen-4.0', 'gemma3', 'gemini-3-flash-live'],
  anthropic: ['claude-sonnet-4-5', 'claude-opus-5'],
  meta: ['llama-4-maverick-17b-128e-instruct-maas', 'llama3'],
  xai: ['grok-4.20-reasoning'],
};
const versions: Readonly<Record<string, string>> = { 'claude-sonnet-4-5': '20250929' };

/** Lists of publishers, on pages of three. They have no project in their path, and take no API keys. */
export function vertexLists({ request, path }: Asked): Given {
  const refuse = (status: number, name: string, message: string, details: readonly object[] = []) =>
    given(status, { error: { code: status, message, status: name, details } });
  if (!bearerFor(request, 'google'))
    return refuse(
      401,
      'UNAUTHENTICATED',
      'API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials.',
    );
  const project = request.headers['x-goog-user-project'];
  if (project !== undefined && (project !== 'p' || state.denied.includes('serviceusage.services.use')))
    return refuse(
      403,
      'PERMISSION_DENIED',
      `Caller does not have required permission to use project ${project}. Grant the caller the roles/serviceusage.serviceUsageConsumer role.`,
      [{ reason: 'USER_PROJECT_DENIED', domain: 'googleapis.com' }],
    );
  const { pathname, searchParams } = new URL(path, 'http://vertex');
  const publisher = pathname.split('/')[3] ?? '';
  if (state.denied.includes(publisher) || state.denied.includes('publishers'))
    return refuse(
      403,
      'PERMISSION_DENIED',
      `Permission 'aiplatform.publisherModels.list' denied on resource`,
    );
  const most = Number(searchParams.get('pageSize'));
  if (!(most >= 1 && most <= 100)) return refuse(400, 'INVALID_ARGUMENT', 'page size');
  const from = Number(searchParams.get('pageToken') ?? '0');
  const publisherModels = (names[publisher] ?? []).slice(from, from + 3).map((name) => ({
    name: `publishers/${publisher}/models/${name}`,
    versionId: versions[name] ?? 'default',
    launchStage: 'GA',
    supportedActions: /^(gemma|llama3$)/.test(name) ? { deploy: { modelDisplayName: name } } : {},
  }));
  const more = from + 3 < (names[publisher] ?? []).length;
  return given(200, {
    ...(publisherModels.length > 0 && { publisherModels }),
    ...(more && { nextPageToken: String(from + 3) }),
  });
}

const azureModel = (id: string, capabilities: object) => ({
  id,
  object: 'model',
  status: 'succeeded',
  created_at: 1_700_000_000,
  lifecycle_status: 'generally-available',
  capabilities: {
    fine_tune: false,
    inference: true,
    completion: false,
    chat_completion: true,
    embeddings: false,
    ...capabilities,
  },
  deprecation: { inference: 1_800_000_000 },
});

/** The models that the resource may deploy. */
export const azureModels = {
  object: 'list',
  data: [
    azureModel('gpt-4.1-2025-04-14', {}),
    azureModel('text-embedding-3-large-1', { chat_completion: false, embeddings: true }),
    azureModel('gpt-4o-tuning-base', { fine_tune: true, inference: false }),
  ],
};
