import { describe, expect, it } from 'vitest';
import { corsHeaders, preflightHeaders } from '#lib/gateway/flow/cors';
import { isGreeting } from '#lib/gateway/flow/greeting';

const page = 'https://app.example.com';
const origins = new Set([page, 'http://localhost:5173']);

type Headers = Readonly<Record<string, string>>;
const head = (method: string, target: string, headers: Headers) => ({ method, target, headers });
const given = (list: readonly string[]) =>
  Object.fromEntries(list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1]]] : [])));
const answered = (method: string, target: string, headers: Headers = { origin: page }) =>
  given(corsHeaders(origins, head(method, target, headers)));
const preflight = (target: string, headers: Headers = {}, method = 'OPTIONS') => {
  const asks = { origin: page, 'access-control-request-method': 'POST', ...headers };
  const list = preflightHeaders(origins, head(method, target, asks));
  return list && given(list);
};

const ofCalls = [
  '/v1/chat/completions',
  '/v1/messages?beta=true',
  '/v1beta/models/x:generateContent',
  '/v1alpha/models',
  '/v1/nothing',
  '/v1',
  '/v1?x=1',
  '//v1/chat/completions',
  '/chat/completions',
];
const notOfCalls = [
  '/',
  '/sign-in',
  '/acme/keys',
  '/api/v1/workspaces',
  '/api/nothing',
  '/v10/x',
  '/docs/v1/models',
];

describe('pages of listed origins (contract: request/cors)', () => {
  it.each(ofCalls)('may read answers at %s', (target) => {
    expect(answered('POST', target)).toEqual({
      'access-control-allow-origin': page,
      'access-control-expose-headers': expect.stringMatching(/^x-request-id, .*retry-after, .*x-ratelimit-/),
      vary: 'origin',
    });
    expect(preflight(target)).toEqual({
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      'access-control-max-age': '7200',
    });
  });

  it.each(notOfCalls)('may not at %s', (target) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) expect(answered(method, target)).toEqual({});
    expect(preflight(target)).toBeNull();
  });

  it.each([
    'https://other.example.com',
    `${page}.evil.test`,
    `${page}/`,
    'HTTPS://APP.EXAMPLE.COM',
    'null',
    '*',
    '',
  ])('are those alone, not %j', (origin) => {
    expect(answered('POST', '/v1/messages', { origin })).toEqual({ vary: 'origin' });
    expect(preflight('/v1/messages', { origin })).toBeNull();
  });

  it('no origin is listed unless the operator lists it, and answers then have no CORS headers', () => {
    const asks = head('OPTIONS', '/v1/messages', { origin: page, 'access-control-request-method': 'POST' });
    expect(corsHeaders(new Set(), asks)).toEqual([]);
    expect(preflightHeaders(new Set(), asks)).toBeNull();
  });

  it('pages of listed origins never send cookies', () => {
    const names = [
      ...Object.keys(answered('POST', '/v1/messages')),
      ...Object.keys(preflight('/v1/messages') ?? {}),
    ];
    expect(names).not.toContain('access-control-allow-credentials');
  });
});

describe('a preflight', () => {
  it('only OPTIONS with a requested method is a preflight', () => {
    expect(preflightHeaders(origins, head('OPTIONS', '/v1/messages', { origin: page }))).toBeNull();
    expect(preflight('/v1/messages', {}, 'POST')).toBeNull();
  });

  it('a preflight is granted the request headers that it names, if they are valid names', () => {
    const allowed = (names: string) =>
      preflight('/v1/messages', { 'access-control-request-headers': names })?.[
        'access-control-allow-headers'
      ];
    expect(allowed('authorization,content-type, x-stainless-os')).toBe(
      'authorization,content-type, x-stainless-os',
    );
    for (const names of ['', 'a b', 'a\r\nset-cookie: x', 'a,,b', 'é'])
      expect(allowed(names)).toBeUndefined();
  });
});

describe('a client that asks whether anything answers (contract: request/greeting)', () => {
  it.each([
    ['HEAD', '/', true],
    ['HEAD', '/?x=1', true],
    ['HEAD', '/api/hello', true],
    ['GET', '/', false],
    ['GET', '/api/hello', false],
    ['HEAD', '/api/hello/x', false],
    ['HEAD', '/sign-in', false],
    ['HEAD', '/api/', false],
    [undefined, '/', false],
  ])('%s %s: %s', (method, target, greets) => expect(isGreeting(method, target)).toBe(greets));
});
