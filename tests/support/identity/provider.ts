import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** The person signed in at the provider. */
export interface Identity {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly verified: boolean;
}

/** GitHub and an OpenID provider in one; it consents to everything. */
export interface IdentityProvider {
  readonly url: string;
  /** Sets who is signed in from now on. */
  become(identity: Identity): void;
  close(): Promise<void>;
}

interface Grant {
  readonly identity: Identity;
  readonly challenge: string;
  readonly nonce: string | null;
  readonly client: string;
}

export const client = { id: 'client-id', secret: 'client-secret' };

/** Checks what a real provider checks: the client's secret, a code used once, and PKCE. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const grants = new Map<string, Grant>();
  const tokens = new Map<string, Identity>();
  let current: Identity = { id: '1', name: 'Nobody', email: 'nobody@example.com', verified: false };
  let url = '';

  const answers: Record<string, (request: IncomingMessage, query: URLSearchParams) => unknown> = {
    '/.well-known/openid-configuration': () => ({
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/jwks': () => ({
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }],
    }),
    '/api/v3/user': (request) => {
      const { id, name } = identityOf(request);
      return { id: Number(id), login: name.toLowerCase(), name, email: null };
    },
    '/api/v3/user/emails': (request) => {
      const { email, verified } = identityOf(request);
      return [
        { email: 'other@example.com', primary: false, verified: true },
        { email, primary: true, verified },
      ];
    },
  };

  function identityOf(request: IncomingMessage): Identity {
    const found = tokens.get(String(request.headers.authorization).replace('Bearer ', ''));
    if (!found) throw new Error('no such token');
    return found;
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const code = randomBytes(12).toString('hex');
    const challenge = query.get('code_challenge') ?? '';
    grants.set(code, {
      identity: current,
      challenge,
      nonce: query.get('nonce'),
      client: query.get('client_id') ?? '',
    });
    const back = new URL(query.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    response.writeHead(302, { location: back.href }).end();
  }

  function exchange(request: IncomingMessage, form: URLSearchParams): unknown {
    const basic = Buffer.from(
      String(request.headers.authorization).replace('Basic ', ''),
      'base64',
    ).toString();
    const grant = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || basic !== `${client.id}:${client.secret}` || grant.challenge !== proof)
      throw new Error('bad grant');
    const token = randomBytes(12).toString('hex');
    tokens.set(token, grant.identity);
    // GitHub speaks no OpenID.
    const identity = request.url === '/token' ? { id_token: idToken(grant) } : {};
    return { access_token: token, token_type: 'Bearer', ...identity };
  }

  function idToken({ identity, nonce, client: aud }: Grant): string {
    const now = Math.floor(Date.now() / 1000);
    const { id: sub, name, email, verified } = identity;
    const said = { iss: url, sub, aud, iat: now, exp: now + 600, name, email, email_verified: verified };
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = `${encode({ alg: 'RS256', kid: 'one' })}.${encode(nonce ? { ...said, nonce } : said)}`;
    return `${body}.${createSign('RSA-SHA256').update(body).sign(privateKey, 'base64url')}`;
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', url);
    try {
      if (pathname.endsWith('/authorize')) return authorize(searchParams, response);
      let body = '';
      for await (const chunk of request) body += chunk;
      const isToken = pathname === '/token' || pathname === '/login/oauth/access_token';
      const answer = isToken
        ? exchange(request, new URLSearchParams(body))
        : answers[pathname]?.(request, searchParams);
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? {}));
    } catch (error) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: 'invalid_grant', error_description: String(error) }));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return {
    url,
    become: (identity) => {
      current = identity;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
