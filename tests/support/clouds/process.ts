/**
 * The issuers and fronts of Azure, Google and AWS for tests, in their own process. They check what the real ones check:
 * signatures of assertions and requests, audiences, times and lives of tokens. Signatures of requests are checked by
 * `aws4`, which shares no code with the signer.
 */
import { createPublicKey, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { bedrockMessages, completion, content, message, sse } from '#tests/support/clouds/answers';
import {
  type Asked,
  bearerFor,
  type Given,
  given,
  issued,
  newRoleKeys,
  now,
  publicKeys,
  roleKeys,
  state,
  workloadFault,
} from '#tests/support/clouds/books';
import { type CloudState, cloudKeys } from '#tests/support/clouds/control';
import { echoed } from '#tests/support/clouds/echo';
import { azureModels, bedrockLists, vertexLists } from '#tests/support/clouds/lists';
import {
  awsContainer,
  awsInstance,
  azureApp,
  azureInstance,
  googleImpersonation,
  googleMetadata,
} from '#tests/support/clouds/machine';
import { faultOfSignature, timeFault } from '#tests/support/clouds/signature';

function googleToken({ body, origin, path }: Asked): Given {
  const form = new URLSearchParams(body.toString());
  const refuse = (description: string) =>
    given(400, { error: 'invalid_grant', error_description: description });
  if (form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:token-exchange') {
    const audience = cloudKeys.cluster.audiences.google;
    const fault = workloadFault(form.get('subject_token') ?? '', audience);
    if (fault !== null || form.get('audience') !== audience || state.revoked)
      return refuse(`The subject token is not accepted: ${fault}: ${form.get('subject_token')}`);
    const kind = 'urn:ietf:params:oauth:token-type:access_token';
    // With a service account, it is exchanged once more.
    const use = path.startsWith('/google/sts') ? 'federated' : 'google';
    const token = { access_token: issued(use), expires_in: state.tokenSeconds };
    return given(200, { ...token, token_type: 'Bearer', issued_token_type: kind });
  }
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    return refuse('Bad grant type');
  const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const valid = verify(
    'RSA-SHA256',
    Buffer.from(`${head}.${claims}`),
    createPublicKey(publicKeys.serviceAccount),
    Buffer.from(signature, 'base64url'),
  );
  if (!valid) return refuse('Invalid JWT Signature.');
  const { iss, aud, scope, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  if (iss !== cloudKeys.email || state.revoked) return refuse('Invalid grant: account not found');
  if (aud !== `${origin}/google/token` || !String(scope).includes('cloud-platform'))
    return refuse('Bad audience');
  const seconds = now() / 1000;
  if (iat > seconds + 60 || exp < seconds || exp - iat > 3_600 || iat < seconds - 120) {
    return refuse('Invalid JWT: Token must be a short-lived token and in a reasonable timeframe.');
  }
  return given(200, { access_token: issued('google'), expires_in: state.tokenSeconds, token_type: 'Bearer' });
}

function vertex({ request, path, body }: Asked): Given {
  const refuse = (status: number, name: string) =>
    given(status, { error: { code: status, message: `Vertex says ${name}`, status: name } });
  if (!bearerFor(request, 'google')) return refuse(401, 'UNAUTHENTICATED');
  if (state.refuseWith > 0) return refuse(state.refuseWith, 'RESOURCE_EXHAUSTED');
  if (request.method === 'GET') return refuse(404, 'NOT_FOUND');
  const asked = JSON.parse(body.toString());
  if (path.includes('/publishers/anthropic/')) {
    if (asked.anthropic_version !== 'vertex-2023-10-16') return refuse(400, 'INVALID_ARGUMENT');
    if (path.endsWith('/count-tokens:rawPredict')) return given(200, { input_tokens: 7 });
    if ('model' in asked) return refuse(400, 'INVALID_ARGUMENT');
    if (path.endsWith(':streamRawPredict')) {
      return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: sse };
    }
    return path.endsWith(':rawPredict') ? given(200, message) : refuse(404, 'NOT_FOUND');
  }
  if (path.endsWith('/endpoints/openapi/chat/completions')) return given(200, completion);
  if (path.includes(':streamGenerateContent')) {
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: `data: ${JSON.stringify(content)}\n\n`,
    };
  }
  return path.endsWith(':generateContent') ? given(200, content) : refuse(404, 'NOT_FOUND');
}

function entra({ path, body, origin }: Asked): Given {
  const { tenant, clientId, clientSecret } = cloudKeys.entra;
  // Its clients accept only https; the gateway sends to the address that is configured.
  const root = `${origin.replace('http:', 'https:')}/${tenant}`;
  if (path.endsWith('/.well-known/openid-configuration')) {
    return given(200, {
      token_endpoint: `${root}/oauth2/v2.0/token`,
      authorization_endpoint: `${root}/oauth2/v2.0/authorize`,
      issuer: `${root}/v2.0`,
      jwks_uri: `${root}/discovery/v2.0/keys`,
    });
  }
  const form = new URLSearchParams(body.toString());
  const assertion = form.get('client_assertion');
  const proof =
    form.get('client_secret') === clientSecret ||
    workloadFault(assertion ?? '', cloudKeys.cluster.audiences.entra) === null;
  if (!proof && assertion !== null && state.unfederated) {
    return given(401, {
      error: 'invalid_client',
      error_description: `AADSTS70021: No matching federated identity record found for presented assertion ${assertion}.`,
      error_codes: [70021],
    });
  }
  const right =
    form.get('grant_type') === 'client_credentials' && form.get('client_id') === clientId && proof;
  if (!right || state.revoked || !(form.get('scope') ?? '').includes('cognitiveservices')) {
    return given(401, {
      error: 'invalid_client',
      error_description: 'AADSTS7000215: Invalid client secret provided.',
      error_codes: [7000215],
    });
  }
  return given(200, { token_type: 'Bearer', expires_in: state.tokenSeconds, access_token: issued('azure') });
}

function azure({ request, path }: Asked): Given {
  const keyed = request.headers['api-key'] === cloudKeys.azure && !state.revoked;
  if (!keyed && !bearerFor(request, 'azure')) {
    return given(401, { error: { code: '401', message: 'Access denied due to invalid credentials.' } });
  }
  if (path.endsWith('/models')) {
    const denied = state.denied.includes('models/read') && !keyed;
    const message = 'The principal lacks the required data action models/read';
    return denied ? given(403, { error: { code: 'PermissionDenied', message } }) : given(200, azureModels);
  }
  return path.endsWith('/chat/completions')
    ? given(200, completion)
    : given(404, { error: { message: 'no' } });
}

/** Whether a request is signed with known keys. */
function signatureFault(asked: Asked, service: string): string | null {
  return faultOfSignature(asked, {
    service,
    nowMs: now(),
    // AWS takes five minutes. For models it is three here, so that a clock that is four minutes off is noticed.
    mostMs: service === 'sts' ? 300_000 : 180_000,
    secretOf: (id, token) => {
      if (state.revoked) return null;
      if (id === cloudKeys.aws.accessKeyId) return { secret: cloudKeys.aws.secretAccessKey };
      const role = roleKeys.get(id);
      if (!role) return null;
      return role.untilMs < now() || token !== role.token ? 'expired' : role;
    },
  });
}

function sts(asked: Asked): Given {
  const form = new URLSearchParams(asked.body.toString());
  const action = String(form.get('Action'));
  const fault =
    action === 'AssumeRoleWithWebIdentity'
      ? workloadFault(form.get('WebIdentityToken') ?? '', cloudKeys.cluster.audiences.aws)
      : signatureFault(asked, 'sts');
  const xml = { 'content-type': 'text/xml' };
  if (fault !== null || form.get('RoleArn') !== cloudKeys.role || state.revoked) {
    const code = fault === timeFault ? 'SignatureDoesNotMatch' : 'AccessDenied';
    const presented = form.get('WebIdentityToken') ?? '';
    const message = `${fault ?? 'not authorized to perform sts:AssumeRole'} ${presented}`;
    const text = `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
    return { status: 403, headers: xml, body: text };
  }
  const { id, secret, token, expiration } = newRoleKeys();
  const text = `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken><Expiration>${expiration}</Expiration></Credentials></${action}Result></${action}Response>`;
  return { status: 200, headers: xml, body: text };
}

function bedrock(asked: Asked): Given {
  const { request, path, body } = asked;
  const keyed = request.headers.authorization === `Bearer ${cloudKeys.bedrock}` && !state.revoked;
  const fault = keyed ? null : signatureFault(asked, 'bedrock');
  if (fault !== null) return given(403, { message: fault });
  if (state.refuseWith > 0) return given(state.refuseWith, { message: 'Too many requests, please wait.' });
  if (path.endsWith('/chat/completions')) return given(200, completion);
  if (/^\/(foundation-models|inference-profiles)/.test(path)) return bedrockLists(asked);
  if (request.method === 'GET') return given(404, { message: 'no such operation' });
  const sent = JSON.parse(body.toString());
  if (path.endsWith('/count-tokens')) {
    const inner = JSON.parse(Buffer.from(sent.input.invokeModel.body, 'base64').toString());
    const right =
      inner.anthropic_version === 'bedrock-2023-05-31' && inner.max_tokens > 0 && !('model' in inner);
    return right ? given(200, { inputTokens: 7 }) : given(400, { message: 'Malformed input request' });
  }
  const wrong = ['model', 'stream'].filter((name) => name in sent);
  if (sent.anthropic_version !== 'bedrock-2023-05-31' || wrong.length > 0) {
    return given(400, { message: `Malformed input request: ${wrong.join(', ')}` });
  }
  if (path.endsWith('/invoke')) return given(200, message);
  if (!path.endsWith('/invoke-with-response-stream')) return given(404, { message: 'no such operation' });
  return {
    status: 200,
    headers: { 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-requestid': 'bedrock-request' },
    body: bedrockMessages(state.ending),
  };
}

const fronts: readonly (readonly [what: string, begins: RegExp, answer: (asked: Asked) => Given])[] = [
  ['google token', /^\/google\/(token|sts)$/, googleToken],
  ['google impersonation token', /^\/v1\/projects\/-\/serviceAccounts\//, googleImpersonation],
  ['google metadata token', /^\/computeMetadata\/v1\/.*token/, googleMetadata],
  ['google metadata', /^\/computeMetadata\//, googleMetadata],
  ['azure instance token', /^\/metadata\/identity\/oauth2\/token/, azureInstance],
  ['azure app token', /^\/azure-app\/token/, azureApp],
  ['aws instance session', /^\/latest\/api\//, awsInstance],
  ['aws instance token', /^\/latest\/meta-data\/iam\/security-credentials\/./, awsInstance],
  ['aws instance', /^\/latest\//, awsInstance],
  ['aws container token', /^\/aws-container/, awsContainer],
  ['vertex', /^\/v1\/projects\//, vertex],
  ['entra token', new RegExp(`^/${cloudKeys.entra.tenant}/`), entra],
  ['azure', /^\/openai\/v1\/azure/, azure],
  ['sts', /^\/sts/, sts],
  ['aws sso token', /^\/federation\/credentials/, () => given(404, {})],
  ['vertex lists', /^\/v1beta1\/publishers\//, vertexLists],
  ['bedrock', /^\/(model|bedrock)\//, bedrock],
  ['bedrock lists', /^\/(foundation-models|inference-profiles)/, bedrock],
];

const server = createServer((request, response) => {
  void receive(request, response);
});

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const path = request.url ?? '';
  const asked = { request, path, body: Buffer.concat(chunks), origin: `http://${request.headers.host}` };
  const [what = '', , front] = fronts.find(([, begins]) => begins.test(path)) ?? [];
  if (state.issuersHang && /token|sts/.test(what)) return;
  const {
    status,
    headers = {},
    body,
  } = (state.echo ? echoed(what, asked) : null) ??
  front?.(asked) ??
  given(404, { message: 'nothing is here' });
  const headersSent = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  process.send?.({ seen: { what, path, headers: headersSent, body: asked.body.toString(), status } });
  response.sendDate = false;
  response.writeHead(status, { ...headers, date: new Date(now()).toUTCString() });
  const whole = typeof body === 'string' ? Buffer.from(body) : Buffer.concat(body);
  const size = typeof body === 'string' || state.pieceBytes === 0 ? whole.length : state.pieceBytes;
  for (let at = 0; at < whole.length; at += size) {
    response.write(whole.subarray(at, at + size));
    if (size < whole.length) await pause(0);
  }
  if (typeof body !== 'string' && state.ending === 'cut') request.socket.end();
  else response.end();
}

process.on(
  'message',
  (told: { state?: Partial<CloudState>; publicKeys?: typeof publicKeys; port?: number; done?: number }) => {
    Object.assign(state, told.state);
    Object.assign(publicKeys, told.publicKeys);
    if (told.done !== undefined) process.send?.({ done: told.done });
    if (told.port !== undefined) {
      server.listen(told.port, '127.0.0.1', () => {
        const address = server.address();
        process.send?.({ port: typeof address === 'object' && address ? address.port : 0 });
      });
    }
  },
);
process.on('disconnect', () => process.exit());
