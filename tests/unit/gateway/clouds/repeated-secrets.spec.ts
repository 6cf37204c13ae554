import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readCloudKey } from '#lib/core/facts/cloud-key';
import type { CredentialFacts } from '#lib/core/facts/credential';
import type { ProviderFacts } from '#lib/core/facts/snapshot';
import type { Auth } from '#lib/core/schemas/catalogue';
import { createAccess } from '#lib/gateway/clouds/access';
import { createPools } from '#lib/gateway/upstream/pools';
import { systemClock } from '#lib/platform/clock';
import { type Clouds, cloudKeys, startClouds } from '#tests/support/clouds/clouds';
import { eventually } from '#tests/support/eventually';

let clouds: Clouds;
const pools = createPools();
const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
/** No signed token, so that only knowing it can mask it. */
const opaque = 'opaque~0123456789/abcdefghijklmnopqrstuvwxyz+ABCDEFGHIJKLMNOPQRSTUVWXYZ=0123456789';
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

beforeAll(async () => {
  clouds = await startClouds();
  await clouds.set({ echo: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
});
afterAll(async () => {
  clouds.close();
  await pools.close();
  rmSync(folder, { recursive: true });
});

/** Asks for a token, and gives what the error and the log say. */
async function refusal(auth: Auth, secret: string, env: Readonly<Record<string, string>>): Promise<string> {
  const cleared = ['AWS_CONTAINER_CREDENTIALS_FULL_URI', 'AWS_ROLE_ARN', 'AWS_WEB_IDENTITY_TOKEN_FILE'];
  for (const [name, value] of [
    ...cleared.map((name) => [name, undefined] as const),
    ['HOME', folder] as const,
    ['AWS_EC2_METADATA_DISABLED', 'true'] as const,
    ...Object.entries(env),
  ])
    vi.stubEnv(name, value);
  const logged: unknown[] = [];
  const access = createAccess({
    clock: systemClock,
    pools,
    catalogue: () => ({ providers: new Map() }) as never,
    variable: (name) => process.env[name] ?? null,
    warn: (...told) => logged.push(told),
  });
  const provider = { id: 'cloud', auth } as unknown as ProviderFacts;
  const credential = {
    name: 'default',
    secret,
    cloud: readCloudKey(auth, secret),
  } as unknown as CredentialFacts;
  const error = await Promise.resolve(access.open(provider, credential, new URL('https://cloud.test'))).then(
    () => null,
    (thrown: Error) => thrown.message,
  );
  access.stop();
  expect(error).toEqual(expect.any(String));
  return `${error} ${JSON.stringify(logged)}`;
}

/** Whether a text has a part of a secret that could be a hint, and not a word of its own. */
const hasPart = (text: string, secret: string) =>
  Array.from({ length: secret.length - 9 }, (_, at) => secret.slice(at, at + 10)).some((part) =>
    text.includes(part),
  );

const aws = { kind: 'aws-sigv4', region: 'eu-west-1' } as const;

describe('an issuer that repeats the secret it was sent (contract: families/cloud-credentials)', () => {
  it.each([
    ['a long one', opaque],
    ['a short one', cloudKeys.machine.containerToken],
  ])('the token of a container of AWS in a file, %s, is in no error and no log', async (_, token) => {
    const text = await refusal(aws, 'default', {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${clouds.url}/aws-container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('container', `${token}`),
    });
    expect(text).toContain('JSON');
    expect(hasPart(text, token)).toBe(false);
  });

  it('the session of the metadata server of AWS is in no error and no log', async () => {
    const text = await refusal(aws, 'default', {
      AWS_EC2_METADATA_DISABLED: '',
      AWS_EC2_METADATA_SERVICE_ENDPOINT: clouds.url,
    });
    await eventually(() => clouds.seen.some(({ what }) => what === 'aws instance token'), true);
    expect(text).toContain('the answer is not valid JSON');
    expect(text).not.toContain('imds-sess');
  });

  it('the token of a sign-in by SSO is in no error and no log', async () => {
    const start = 'https://start.test/start';
    mkdirSync(join(folder, '.aws/sso/cache'), { recursive: true });
    const config = file(
      'profiles',
      `[default]\nsso_start_url = ${start}\nsso_account_id = 123456789012\nsso_region = eu-west-1\nsso_role_name = gateway\n`,
    );
    file(
      `.aws/sso/cache/${createHash('sha1').update(start).digest('hex')}.json`,
      JSON.stringify({ accessToken: opaque, startUrl: start, expiresAt: '2999-01-01T00:00:00Z' }),
    );
    const text = await refusal(aws, 'default', {
      AWS_CONFIG_FILE: config,
      AWS_ENDPOINT_URL_SSO: clouds.url,
    });
    expect(text).toContain('Session token');
    expect(hasPart(text, opaque)).toBe(false);
    rmSync(join(folder, '.aws'), { recursive: true });
  });

  it('the assertion of a workload at Entra ID is in no error and no log', async () => {
    const { tenant, clientId } = cloudKeys.entra;
    const text = await refusal({ kind: 'entra-id', authority: clouds.url }, 'default', {
      AZURE_FEDERATED_TOKEN_FILE: file('assertion', `${opaque}\n`),
      AZURE_CLIENT_ID: clientId,
      AZURE_TENANT_ID: tenant,
    });
    expect(text).toContain('AADSTS50027');
    expect(hasPart(text, opaque)).toBe(false);
  });

  it.each([
    ['text', opaque, {}],
    [
      'JSON',
      JSON.stringify({ proof: opaque }),
      { format: { type: 'json', subject_token_field_name: 'proof' } },
    ],
  ])(
    'the subject token of a workload at Google, in a file of %s, is in no error and no log',
    async (_, body, format) => {
      const identity = {
        type: 'external_account',
        audience: cloudKeys.cluster.audiences.google,
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${clouds.url}/google/token`,
        credential_source: { file: file('google', body), ...format },
      };
      const given = await refusal({ kind: 'google-service-account' }, JSON.stringify(identity), {});
      const found = await refusal({ kind: 'google-service-account' }, 'default', {
        GOOGLE_APPLICATION_CREDENTIALS: file('google.json', JSON.stringify(identity)),
      });
      for (const text of [given, found]) {
        expect(text).toContain('The subject token');
        expect(hasPart(text, opaque)).toBe(false);
      }
    },
  );
});
