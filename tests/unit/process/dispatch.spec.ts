import { describe, expect, it } from 'vitest';
import { makeKey } from '#lib/platform/secrets';
import { isForGateway, routedTarget } from '#lib/programs/process/dispatch';

const key = makeKey();
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const session = { cookie: 'theme=dark; next-auth.session-token=abc' };
const json = { 'content-type': 'application/json' };

function answers(method: string, url: string, headers: Record<string, string> = {}): string {
  return isForGateway({ method, url, headers }) ? 'gateway' : 'console';
}

describe('the gateway answers (contract: request/addresses, request/json-for-programs)', () => {
  it.each([
    ['POST', '/v1/chat/completions'],
    ['GET', '/v1'],
    ['GET', '/v1beta/models?key=x'],
    ['GET', '//v1/models'],
    ['GET', 'http://gateway.test/v1/models'],
    ['OPTIONS', '*'],
  ])('what stands under a version, with or without a key: %s %s', (method, url) =>
    expect(answers(method, url)).toBe('gateway'),
  );

  it.each([
    ['POST', '/responses'],
    ['POST', '/chat/completions'],
    ['POST', '/messages?beta=true'],
    ['POST', '/images/edits'],
    ['DELETE', '/videos/video_1'],
    ['POST', '/models/x:generateContent'],
    ['POST', '//chat/completions'],
  ])('operations without a version that are not read, whoever asks: %s %s', (method, url) => {
    expect(answers(method, url)).toBe('gateway');
    expect(answers(method, url, { ...form, ...session })).toBe('gateway');
  });

  it.each([
    ['an Authorization', '/models', { authorization: `Bearer ${key}` }],
    ['x-api-key', '/responses/resp_1', { 'x-api-key': key }],
    ['x-goog-api-key', '/models/x', { 'x-goog-api-key': ` ${key} ` }],
    ['api-key', '/acme/keys', { 'api-key': key }],
    ['a key on the front page', '/', { authorization: `bearer ${key}` }],
    ['a key on the sign-in page', '/sign-in', { authorization: `Bearer ${key}`, ...session }],
    ['a key on a script of the pages', '/_next/static/x.js', { 'x-api-key': key }],
    ['a key in the query of an operation', `/models?key=${key}`, {}],
  ])('what is read with a key of ours: %s', (_name, url, headers) =>
    expect(answers('GET', url, headers)).toBe('gateway'),
  );

  it.each([
    ['JSON to a page', 'POST', '/acme/keys', json],
    ['JSON to a page, with a session', 'POST', '/acme/keys', { ...json, ...session }],
    ['a form without a session', 'POST', '/acme/keys', form],
    ['no type at all', 'POST', '/', {}],
    ['JSON to a script of the pages', 'POST', '/_next/static/x.js', { ...json, ...session }],
    ['PUT', 'PUT', '/acme/keys', { ...form, ...session }],
    ['DELETE', 'DELETE', '/sign-in', session],
    ['OPTIONS', 'OPTIONS', '/acme', {}],
  ])('what is neither read nor an action of the console: %s', (_name, method, url, headers) =>
    expect(answers(method, url, headers)).toBe('gateway'),
  );

  it.each(['/api', '/api/', '/api/nothing', '/api/authors', '/api/v10', '/api/stripe/other', '/api/auth'])(
    'unknown addresses under /api: %s',
    (url) => expect(answers('GET', url)).toBe('gateway'),
  );
});

describe('the console answers', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/models'],
    ['GET', '/models?key=AIzaSyNotOurs'],
    ['GET', `/sign-in?key=${key}`],
    ['GET', '/responses'],
    ['HEAD', '/acme/keys'],
    ['GET', '/v10/keys'],
    ['GET', '/favicon.ico'],
    ['GET', '/_next/static/x.js'],
    ['POST', '/__nextjs_original-stack-frames'],
    ['GET', '/api/health'],
    ['GET', '/api/metrics'],
    ['POST', '/api/auth/callback/credentials'],
    ['POST', '/api/stripe/webhook'],
    ['GET', '/api/v1/me'],
  ])('%s %s', (method, url) => expect(answers(method, url)).toBe('console'));

  it('its own routes under /api, whatever they carry', () => {
    expect(answers('GET', '/api/v1/me', { authorization: `Bearer ${key}` })).toBe('console');
  });

  it('other credentials than ours', () => {
    const typo = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
    expect(answers('GET', '/models', { authorization: `Bearer ${typo}` })).toBe('console');
    expect(answers('GET', '/models', { authorization: 'Basic dTpw' })).toBe('console');
  });

  it('actions, which say by themselves that a session has ended, and forms with a session', () => {
    expect(answers('POST', '/acme/keys', { 'next-action': 'id', 'content-type': 'text/plain' })).toBe(
      'console',
    );
    expect(answers('POST', '/acme/keys', { ...form, ...session })).toBe('console');
    expect(answers('POST', '/acme', { ...form, cookie: '__Secure-next-auth.session-token.0=x' })).toBe(
      'console',
    );
  });

  it('forms of signing in and up, which need no session', () => {
    for (const url of ['/sign-in', '/sign-up', '/reset/token', '/invite/token', '/welcome'])
      expect(answers('POST', url, form)).toBe('console');
    expect(answers('POST', '/sign-in-later', form)).toBe('gateway');
  });
});

describe("the target under which Next's routes serve a call", () => {
  it.each([
    ['POST', '/v1/chat/completions?x=1', '/v1/chat/completions?x=1'],
    ['POST', '/v1/nothing', '/v1/nothing'],
    ['POST', '/chat/completions?x=1', '/v1/chat/completions?x=1'],
    ['GET', '/models/vendor%2Fx', '/v1/models/vendor%2Fx'],
    ['POST', '/models/x:generateContent', '/v1/models/x:generateContent'],
    ['POST', '/acme/keys', null],
    ['POST', '/api/nothing', null],
    ['TRACE', '/v1/models', null],
    ['GET', '/v1//models?x=a//b', '/v1/models?x=a//b'],
    ['POST', '//v1/chat/completions', '/v1/chat/completions'],
    ['POST', '//chat//completions?x=1', '/v1/chat/completions?x=1'],
    ['GET', '/v1/%zz', null],
    ['GET', '/v1/../models', null],
  ])('%s %s', (method, url, expected) => expect(routedTarget({ method, url, headers: {} })).toBe(expected));
});
