import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBalanced } from '#tests/support/books';
import { ask, askChat, bearer } from '#tests/support/chat-call';
import { type OwnStack, startStack } from '#tests/support/stack';
import { headerOf, type Wire } from '#tests/support/wire';

const page = 'https://app.example.com';

describe.each(['node', 'web'] as const)('a browser over the %s lane (contract: request/cors)', (lane) => {
  let stack: OwnStack;
  let key: string;
  beforeAll(async () => {
    stack = await startStack({ lane, env: { CORS_ORIGINS: `http://localhost:5173,${page}` } });
    key = (await stack.key((await stack.workspace({ rpm: 10_000 })).slug)).key;
  });
  afterAll(() => closeBalanced(stack));

  const from = (origin: string, more: Record<string, string> = {}) => ({ Origin: origin, ...more });
  const preflight = { 'Access-Control-Request-Method': 'POST' };
  const ofCors = (answer: Wire) => answer.headers.filter(([name]) => name.startsWith('access-control-'));
  /** Next adds a header of its own. */
  const varies = (answer: Wire) => {
    const values = answer.headers.filter(([name]) => name === 'vary').map(([, value]) => value);
    return values.join(', ').toLowerCase().split(', ').includes('origin');
  };

  function expectReadable(answer: Wire) {
    expect(headerOf(answer, 'access-control-allow-origin')).toBe(page);
    expect(headerOf(answer, 'access-control-expose-headers')).toContain('x-request-id');
    expect(headerOf(answer, 'access-control-allow-credentials')).toBeUndefined();
    expect(headerOf(answer, 'x-request-id')).toBeDefined();
    expect(varies(answer)).toBe(true);
  }

  it.each(['/v1/chat/completions', '/v1/nothing', '/v1beta/models/x:generateContent', '/v1alpha/models'])(
    'is told before that it may send a request to %s',
    async (target) => {
      const wanted = { 'Access-Control-Request-Headers': 'authorization,content-type,x-stainless-os' };
      const answer = await ask(stack.url, 'OPTIONS', target, from(page, { ...preflight, ...wanted }));
      expect([answer.status, answer.body.length]).toEqual([204, 0]);
      expectReadable(answer);
      expect(headerOf(answer, 'access-control-allow-methods')).toBe('GET, POST, PATCH, DELETE');
      expect(headerOf(answer, 'access-control-allow-headers')).toBe(
        'authorization,content-type,x-stainless-os',
      );
    },
  );

  it.each([
    ['of another origin', '/v1/models', from('https://other.example.com', preflight)],
    ['without a method', '/v1/models', from(page)],
    ['without an origin', '/v1/models', preflight],
  ])('gets 405 as everybody for OPTIONS %s', async (_what, target, headers) => {
    const answer = await ask(stack.url, 'OPTIONS', target, headers);
    expect([answer.status, headerOf(answer, 'allow')]).toEqual([405, 'GET']);
    expect(headerOf(answer, 'access-control-allow-methods')).toBeUndefined();
  });

  it.each([
    ['an answer', {}, 200],
    ['a stream', { stream: true }, 200],
    ["a provider's error", { directive: 'fault/status-404' }, 404],
    ['a broken stream', { directive: 'fault/cut@3', stream: true }, 200],
    ['a refusal', { model: 'no/such/model' }, 400],
  ])('may read %s', async (_what, fields, status) => {
    const { answer } = await askChat(stack.url, key, fields, { headers: from(page) });
    expect(answer.status).toBe(status);
    expectReadable(answer);
  });

  it('may read a refusal without a key, an unknown address and the models', async () => {
    for (const [target, headers, status] of [
      ['/v1/models', {}, 401],
      ['/v1/nothing', {}, 404],
      ['/v1/models', bearer(key), 200],
    ] as const) {
      const answer = await ask(stack.url, 'GET', target, from(page, headers));
      expect(answer.status).toBe(status);
      expectReadable(answer);
    }
  });

  it('of another origin reads nothing, and caches are told that answers differ', async () => {
    const { answer } = await askChat(stack.url, key, {}, { headers: from('https://other.example.com') });
    expect([answer.status, ofCors(answer), varies(answer)]).toEqual([200, [], true]);
  });

  it('reads nothing outside the addresses of calls', async () => {
    for (const target of ['/api/v1/me', '/api/health', '/api/nothing', '/sign-in', '/']) {
      for (const [method, headers] of [
        ['GET', from(page)],
        ['OPTIONS', from(page, preflight)],
      ] as const) {
        const answer = await ask(stack.url, method, target, headers);
        expect([answer.status === 204, ofCors(answer)], `${method} ${target}`).toEqual([false, []]);
      }
    }
  });

  it('makes no row by asking before', async () => {
    const own = await stack.key((await stack.workspace()).slug);
    await ask(stack.url, 'OPTIONS', '/v1/chat/completions', { ...from(page, preflight), ...bearer(own.key) });
    const { id } = await askChat(stack.url, own.key, {});
    await stack.call(id);
    const { rows } = await stack.db.pool.query('SELECT id FROM call WHERE key_id = $1', [own.id]);
    expect(rows).toEqual([{ id }]);
  });

  it('that only asks whether anything answers gets an empty 200 (contract: request/greeting)', async () => {
    for (const target of ['/', '/api/hello']) {
      const answer = await ask(stack.url, 'HEAD', target);
      expect([answer.status, answer.body.length, headerOf(answer, 'location')]).toEqual([200, 0, undefined]);
      expect(headerOf(answer, 'x-request-id')).toBeDefined();
    }
  });
});
