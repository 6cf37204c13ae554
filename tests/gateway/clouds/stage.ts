import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { type Clouds, cloudKeys, startClouds } from '#tests/support/clouds/clouds';
import { operate } from '#tests/support/control/operate';
import { type OwnStack, startStack } from '#tests/support/stack';
import { type Collector, startCollector } from '#tests/support/telemetry/collector';

/** A gateway with a provider for each way of paying a cloud. */
export interface CloudStage {
  readonly stack: OwnStack;
  readonly clouds: Clouds;
  /** Gets the spans of all processes. */
  readonly collector: Collector;
  readonly key: string;
  /** What the stack's environment has because its machine belongs to a cluster that the clouds trust. */
  readonly cluster: Readonly<Record<string, string>>;
  /** Writes new tokens of the workload. @param seconds how long they are valid. */
  replaceTokens(seconds?: number): void;
  /** Calls a model; text of the answer. @param url of the gateway; default: the stack's. */
  ask(path: string, body: object, headers?: Record<string, string>, url?: string): Promise<Answered>;
  close(): Promise<void>;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  readonly id: string;
}

/** Reads the metrics of each gateway. */
export const metricsToken = 'metrics-of-the-clouds-stage';

const price = { input: '1', cachedInput: '0.1', output: '4' };

/** Providers by id, with their variable of the credential. */
function providersAt(url: string) {
  const google = { kind: 'google-service-account' };
  const vertex = `${url}/v1/projects/p/locations/l`;
  const aws = { kind: 'aws-sigv4', region: 'eu-west-1' };
  const bedrock = {
    families: { messages: url, chat: `${url}/bedrock/openai/v1` },
    credentialHeaders: { messages: 'authorization' },
    auth: aws,
    variants: { messages: 'bedrock' },
  };
  const azure = {
    families: { chat: `${url}/openai/v1/azure` },
    credentialHeaders: { chat: 'api-key' },
    auth: { kind: 'entra-id', authority: url },
  };
  return {
    'azure-key': azure,
    'azure-entra': azure,
    'azure-workload': azure,
    vertex: {
      families: {
        messages: `${vertex}/publishers/anthropic`,
        'generate-content': `${vertex}/publishers/google`,
        chat: `${vertex}/endpoints/openapi`,
      },
      auth: google,
      variants: { messages: 'vertex' },
    },
    'vertex-workload': { families: { chat: `${vertex}/endpoints/openapi` }, auth: google },
    'bedrock-key': bedrock,
    'bedrock-keys': bedrock,
    'bedrock-role': bedrock,
    'vertex-machine': { families: { chat: `${vertex}/endpoints/openapi` }, auth: google },
    'bedrock-machine': bedrock,
    'bedrock-machine-role': bedrock,
  };
}

export async function openStage(): Promise<CloudStage> {
  const clouds = await startClouds();
  const collector = await startCollector();
  const folder = mkdtempSync(join(tmpdir(), 'clouds-'));
  const fileOf = (cloud: string) => join(folder, cloud);
  const { aws, role, entra, cluster } = cloudKeys;
  const replaceTokens = (seconds?: number) => {
    for (const cloud of ['google', 'entra', 'aws'] as const)
      writeFileSync(fileOf(cloud), clouds.workloadToken(cloud, seconds));
  };
  replaceTokens();
  const federated = {
    type: 'external_account',
    audience: cluster.audiences.google,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    credential_source: { file: fileOf('google') },
  };
  const impersonated = {
    ...federated,
    token_url: `${clouds.url}/google/sts`,
    service_account_impersonation_url: `${clouds.url}/v1/projects/-/serviceAccounts/${cloudKeys.email}:generateAccessToken`,
  };
  writeFileSync(fileOf('google.json'), JSON.stringify(impersonated));
  const clusterEnv = {
    AZURE_TENANT_ID: entra.tenant,
    AZURE_CLIENT_ID: entra.clientId,
    AZURE_FEDERATED_TOKEN_FILE: fileOf('entra'),
    GOOGLE_APPLICATION_CREDENTIALS: fileOf('google.json'),
    AWS_ROLE_ARN: role,
    AWS_WEB_IDENTITY_TOKEN_FILE: fileOf('aws'),
  };
  const credentials: Record<string, string> = {
    'azure-key': cloudKeys.azure,
    'azure-entra': JSON.stringify(entra),
    'azure-workload': 'default',
    vertex: clouds.serviceAccount,
    'vertex-workload': JSON.stringify({ ...federated, token_url: `${clouds.url}/google/token` }),
    'vertex-machine': 'default',
    'bedrock-machine': 'default',
    'bedrock-machine-role': JSON.stringify({ role }),
    'bedrock-key': cloudKeys.bedrock,
    'bedrock-keys': JSON.stringify(aws),
    'bedrock-role': JSON.stringify({ ...aws, role }),
  };
  const variableOf = (id: string) => `CLOUD_${id.toUpperCase().replaceAll('-', '_')}`;
  const stack = await startStack({
    env: {
      ...Object.fromEntries(Object.entries(credentials).map(([id, text]) => [variableOf(id), text])),
      LOG_LEVEL: 'info',
      METRICS_TOKEN: metricsToken,
      AWS_ENDPOINT_URL_STS: `${clouds.url}/sts`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      ...clusterEnv,
    },
  });
  const providers = Object.entries(providersAt(clouds.url)).map(([id, settings]) => ({
    id,
    name: id,
    credential: { env: variableOf(id) },
    ...settings,
  }));
  // A workload identity, and what serves if its role is revoked.
  const pools = { azure: ['workload', 'key'], vertex: ['workload', ''], bedrock: ['machine', 'key'] };
  for (const [cloud, [first, spare]] of Object.entries(pools)) {
    const one = providers.find(({ id }) => id === `${cloud}-${first}`);
    const env = variableOf(spare ? `${cloud}-${spare}` : cloud);
    const credentials = [{ name: 'spare', credential: { env }, priority: 2 }];
    if (one) providers.push({ ...one, id: `${cloud}-pool`, name: `${cloud}-pool`, ...{ credentials } });
  }
  const offers = (ids: readonly string[], families: readonly string[], upstreamModel: string) =>
    ids.map((provider) => ({ provider, upstreamModel, families, price }));
  const model = (id: string, list: readonly object[]) => ({
    id,
    name: id,
    contextTokens: 1_000_000,
    maxOutputTokens: 65_536,
    input: ['text'],
    output: ['text'],
    offers: list,
  });
  const claude = 'eu.anthropic.claude-sonnet-4-5-v1:0';
  const models = [
    ...['azure-key', 'azure-entra', 'azure-workload', 'azure-pool'].map((id) =>
      model(`cloud/${id}`, offers([id], ['chat'], 'gpt')),
    ),
    ...['key', 'keys', 'role', 'machine', 'machine-role', 'pool']
      .map((name) => `bedrock-${name}`)
      .map((id) => model(`cloud/${id}`, offers([id], ['messages', 'chat'], claude))),
    ...['vertex-workload', 'vertex-machine', 'vertex-pool'].map((id) =>
      model(`cloud/${id}`, offers([id], ['chat'], 'claude@1')),
    ),
    model('cloud/vertex', offers(['vertex'], ['messages', 'chat'], 'claude@1')),
    model('cloud/gemini', offers(['vertex'], ['generate-content'], 'gemini-1')),
    model('anthropic/everywhere', [
      ...offers(['bedrock-role'], ['messages'], claude),
      ...offers(['vertex'], ['messages'], 'claude@1'),
    ]),
  ];
  await operate(stack.db, applyCatalogue, {
    files: [{ name: 'clouds.yaml', text: JSON.stringify({ providers, models }) }],
  });
  const { slug } = await stack.workspace();
  const { key } = await stack.key(slug);
  await stack.announce();
  return {
    stack,
    clouds,
    collector,
    key,
    cluster: clusterEnv,
    replaceTokens,
    ask: async (path, body, headers = {}, url = stack.url) => {
      for (;;) {
        const answer = await fetch(`${url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        });
        const text = await answer.text();
        // On a busy machine, the database may not answer in time.
        if (/auth_resolve_failed|hydrate_cooldown/.test(text)) continue;
        return { status: answer.status, text, id: answer.headers.get('x-request-id') ?? '' };
      }
    },
    close: async () => {
      await stack.close();
      await collector.leave();
      clouds.close();
    },
  };
}
