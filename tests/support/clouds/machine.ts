import {
  type Asked,
  bearerFor,
  type Given,
  given,
  issued,
  newRoleKeys,
  now,
  state,
} from '#tests/support/clouds/books';
import { cloudKeys } from '#tests/support/clouds/control';

/**
 * The servers from which a machine gets its identity: of Google, Azure and AWS. As the real ones do, they answer only
 * requests that no browser and no proxy could have made: with their header, and without X-Forwarded-For.
 */

const { machine } = cloudKeys;
const plain = { 'content-type': 'text/plain' };
const text = (status: number, body: string, headers = {}): Given => ({
  status,
  headers: { ...plain, ...headers },
  body,
});

export function googleMetadata({ request, path }: Asked): Given {
  const flavor = { 'metadata-flavor': 'Google', server: 'Metadata Server for VM' };
  const { headers } = request;
  if (headers['metadata-flavor'] !== 'Google' || 'x-forwarded-for' in headers)
    return text(403, 'Missing Metadata-Flavor:Google header.', flavor);
  const { pathname, searchParams } = new URL(path, 'http://metadata');
  if (/^\/computeMetadata\/v1\/instance\/?$/.test(pathname)) return text(200, 'attributes/\n', flavor);
  if (pathname !== '/computeMetadata/v1/instance/service-accounts/default/token' || state.revoked)
    return text(404, 'not found', flavor);
  if (!(searchParams.get('scopes') ?? '').includes('cloud-platform')) return text(400, 'no scope', flavor);
  const token = { access_token: issued('google'), expires_in: state.tokenSeconds, token_type: 'Bearer' };
  return given(200, token, flavor);
}

/** Exchanges the token of a workload for that of a service account. */
export function googleImpersonation({ request, path, body }: Asked): Given {
  const { scope, lifetime } = JSON.parse(body.toString());
  const right =
    path.endsWith(`/${cloudKeys.email}:generateAccessToken`) &&
    bearerFor(request, 'federated') &&
    String(scope).includes('cloud-platform') &&
    /^\d+s$/.test(lifetime);
  if (!right) {
    const error = {
      code: 403,
      message: "Permission 'iam.serviceAccounts.getAccessToken' denied",
      status: 'PERMISSION_DENIED',
    };
    return given(403, { error });
  }
  const expireTime = new Date(now() + state.tokenSeconds * 1000).toISOString().replace(/\.\d+Z/, 'Z');
  return given(200, { accessToken: issued('google'), expireTime });
}

/** A managed identity of a virtual machine. */
export function azureInstance({ request, path }: Asked): Given {
  const { headers } = request;
  if (headers.metadata !== 'true' || 'x-forwarded-for' in headers)
    return given(400, {
      error: 'invalid_request',
      error_description: 'Required metadata header not specified',
    });
  return managed(path, '2018-02-01');
}

/** A managed identity of App Service, Functions and Container Apps. */
export function azureApp({ request, path }: Asked): Given {
  if (request.headers['x-identity-header'] !== machine.identityHeader)
    return given(401, { statusCode: 401, message: 'Unauthorized' });
  if (state.revoked)
    return given(400, { statusCode: 400, message: `No identity for ${machine.identityHeader}` });
  return managed(path, '2019-08-01');
}

function managed(path: string, version: string): Given {
  const { searchParams } = new URL(path, 'http://metadata');
  if (searchParams.get('api-version') !== version)
    return given(400, {
      error: 'bad_request_102',
      error_description: 'Required api-version is not supported',
    });
  const resource = searchParams.get('resource');
  if (resource !== 'https://cognitiveservices.azure.com' || state.revoked)
    return given(400, { error: 'invalid_request', error_description: 'Identity not found' });
  const expires_on = String(Math.floor(now() / 1000) + state.tokenSeconds);
  const token = { access_token: issued('azure'), expires_on, token_type: 'Bearer', resource };
  return given(200, { ...token, expires_in: String(state.tokenSeconds), client_id: 'c' });
}

/** Tokens of sessions of IMDSv2, which each request needs. */
const sessions = new Set<string>();
const profile = 'gateway-instance';

export function awsInstance({ request, path }: Asked): Given {
  const { headers, method } = request;
  if (path === '/latest/api/token') {
    const seconds = Number(headers['x-aws-ec2-metadata-token-ttl-seconds']);
    if (method !== 'PUT') return text(405, '');
    if ('x-forwarded-for' in headers) return text(403, '');
    if (!(seconds >= 1 && seconds <= 21_600)) return text(400, '');
    const token = `imds-session-${sessions.size}-${Math.random().toString(36).slice(2)}`;
    sessions.add(token);
    return text(200, token, { 'x-aws-ec2-metadata-token-ttl-seconds': String(seconds) });
  }
  if (method !== 'GET' || !sessions.has(String(headers['x-aws-ec2-metadata-token']))) return text(401, '');
  const list = '/latest/meta-data/iam/security-credentials/';
  if (state.revoked) return text(404, '');
  if (path === list) return text(200, profile);
  if (path !== `${list}${profile}`) return text(404, '');
  const { id, secret, token, expiration } = newRoleKeys();
  const keys = { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: expiration };
  return given(200, {
    Code: 'Success',
    LastUpdated: new Date(now()).toISOString(),
    Type: 'AWS-HMAC',
    ...keys,
  });
}

/** Keys of a task of ECS, or of a pod of EKS. */
export function awsContainer({ request }: Asked): Given {
  if (request.headers.authorization !== machine.containerToken || state.revoked)
    return given(401, { code: 'AccessDenied', message: 'The authorization token is not valid' });
  const { id, secret, token, expiration } = newRoleKeys();
  return given(200, {
    AccessKeyId: id,
    SecretAccessKey: secret,
    Token: token,
    Expiration: expiration,
    RoleArn: cloudKeys.role,
  });
}
