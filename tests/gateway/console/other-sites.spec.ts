import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as send } from 'node:http';
import { join } from 'node:path';
import { encode } from 'next-auth/jwt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addMember } from '#tests/support/control/operate';
import { type OwnStack, root, secrets, startStack } from '#tests/support/stack';

let stack: OwnStack;
let slug: string;
let cookie: string;
beforeAll(async () => {
  stack = await startStack({ console: true, env: { NEXTAUTH_URL: 'https://gateway.example' } });
  slug = (await stack.workspace()).slug;
  const user = { id: randomUUID(), email: `owner@${slug}.example` };
  const sessionId = randomUUID();
  const endsAtMs = Date.now() + 3_600_000;
  await stack.db.prisma.user.create({ data: user });
  await stack.db.prisma.session.create({
    data: { id: sessionId, userId: user.id, version: 1, method: 'password', endsAt: new Date(endsAtMs) },
  });
  await addMember(stack.db, { workspace: slug, email: user.email, role: 'owner' });
  const token = { userId: user.id, sessionId, endsAtMs };
  cookie = `__Secure-next-auth.session-token=${await encode({ token, secret: secrets.NEXTAUTH_SECRET })}`;
});
afterAll(() => stack.close());

const built = (file: string) => JSON.parse(readFileSync(join(root, '.next', file), 'utf8'));
const changes = async () => Number((await stack.db.pool.query('SELECT count(*) FROM audit')).rows[0].count);
const ask = (path: string, init: RequestInit = {}) =>
  fetch(stack.url + path, { ...init, redirect: 'manual', headers: { cookie, ...init.headers } });

/** Every page of the build, in this workspace. */
function pages(): string[] {
  const routes: Record<string, string> = built('app-path-routes-manifest.json');
  return Object.entries(routes)
    .filter(([file]) => file.endsWith('/page') && !file.startsWith('/_'))
    .map(([, address]) => address.replace('[workspace]', slug).replace(/\[(?:\.\.\.)?\w+\]/, 'x'));
}

describe('what pages come with (contract: control-plane/page-headers)', () => {
  it('is strict on each of them, with a nonce of its own that each script has', async () => {
    const all = pages();
    expect(all.length).toBeGreaterThan(25);
    const nonces = new Set<string>();
    for (const page of all) {
      const answer = await ask(page);
      const html = await answer.text();
      const header = (name: string) => answer.headers.get(name) ?? '';
      const policy = new Map(
        header('content-security-policy')
          .split('; ')
          .map((line) => [line.split(' ', 1)[0], line] as const),
      );
      const nonce = /'nonce-([^']+)'/.exec(policy.get('script-src') ?? '')?.[1] ?? '';
      expect([page, policy.get('script-src')]).toEqual([
        page,
        `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'`,
      ]);
      expect(nonce.length).toBeGreaterThan(20);
      nonces.add(nonce);
      expect([...policy.values()]).toEqual(
        expect.arrayContaining([
          ...["default-src 'self'", "object-src 'none'", "base-uri 'none'", "form-action 'self'"],
          "frame-ancestors 'none'",
        ]),
      );
      expect({
        page,
        frame: header('x-frame-options'),
        type: header('x-content-type-options'),
        referrer: header('referrer-policy'),
        permissions: header('permissions-policy'),
        opener: header('cross-origin-opener-policy'),
        cache: header('cache-control'),
        engine: answer.headers.get('x-powered-by'),
      }).toEqual({
        page,
        frame: 'DENY',
        type: 'nosniff',
        referrer: 'strict-origin-when-cross-origin',
        permissions: 'camera=(), microphone=(self), geolocation=()',
        opener: 'same-origin',
        cache: expect.stringContaining('no-store'),
        engine: null,
      });
      const scripts = html.match(/<script\b[^>]*>/g) ?? [];
      expect([page, scripts.filter((tag) => !tag.includes(`nonce="${nonce}"`))]).toEqual([page, []]);
      expect([page, html.match(/<[a-z][^<>]*\son[a-z]+=/i)]).toEqual([page, null]);
    }
    expect(nonces.size).toBe(all.length);
  });
});

describe('what another site sends (contract: control-plane/other-sites)', () => {
  it('is refused by every action, whatever it is, and changes nothing', async () => {
    const actions: Record<string, { workers: Record<string, unknown> }> = built(
      'server/server-reference-manifest.json',
    ).node;
    expect(Object.keys(actions).length).toBeGreaterThan(40);
    const before = await changes();
    const own = { origin: stack.url };
    for (const [id, { workers }] of Object.entries(actions)) {
      const [file = ''] = Object.keys(workers);
      const page = built('app-path-routes-manifest.json')[`/${file.replace(/^app\//, '')}`] ?? '/sign-in';
      const address = page.replace('[workspace]', slug).replace(/\[(?:\.\.\.)?\w+\]/, 'x');
      for (const origin of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { ...own, 'sec-fetch-site': 'cross-site' },
        { ...own, 'sec-fetch-site': 'same-site' },
      ]) {
        const answer = await ask(address, {
          method: 'POST',
          headers: { 'next-action': id, 'content-type': 'text/plain;charset=UTF-8', ...origin },
          body: JSON.stringify([slug, {}]),
        });
        expect([file, origin, answer.status]).toEqual([file, origin, 403]);
      }
    }
    expect(await changes()).toBe(before);
    const page = await ask(`/${slug}/settings`);
    expect(page.status).toBe(200);
  });

  it('neither signs in nor out without the token of our own pages', async () => {
    for (const path of ['signout', 'callback/credentials', 'signin/credentials']) {
      const form = new URLSearchParams({ email: 'a@example.com', password: 'x', json: 'true' });
      const answer = await ask(`/api/auth/${path}`, { method: 'POST', body: form });
      expect([path, answer.headers.getSetCookie().filter((line) => /session-token/.test(line))]).toEqual([
        path,
        [],
      ]);
      expect(await answer.text()).toMatch(/csrf|signin/i);
    }
    expect((await ask('/account')).status).toBe(200);
  });

  it('reaches nothing of the management API with a cookie alone', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/keys'],
      ['PATCH', ''],
      ['DELETE', ''],
    ]) {
      const answer = await ask(`/api/v1/workspaces/${slug}${path}`, {
        method: method ?? '',
        ...(method === 'POST' || method === 'PATCH' ? { body: '{"name":"x"}' } : {}),
      });
      expect([method, answer.status]).toEqual([method, 401]);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

it('cookies are for our own pages alone, and under https for https', async () => {
  const answer = await ask('/api/auth/csrf', { headers: { cookie: '' } });
  const lines = answer.headers.getSetCookie();
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines)
    expect(line).toMatch(/^__(?:Host|Secure)-next-auth\..*; HttpOnly; Secure; SameSite=Lax$/);
});

it.each([
  '//evil.example',
  '//evil.example/',
  '///evil.example/keys/',
  '/\\evil.example/',
  '/%5Cevil.example/',
  '/%2F%2Fevil.example/',
  '/.//evil.example/',
  '/keys/..//evil.example/',
  '/https://evil.example/',
  '/%0d%0aLocation:%20https://evil.example/',
  '/evil.example%2f..%2f/',
  '/sign-in/?callbackUrl=//evil.example',
  '/verify/?callbackUrl=https://evil.example',
  '/api/auth/signin?callbackUrl=https://evil.example',
  '/api/auth/signout?callbackUrl=//evil.example',
  '/api/auth/callback/credentials?callbackUrl=https://evil.example',
])('%s redirects to no other site', async (target) => {
  for (const sent of [{}, { cookie }]) {
    const { hostname, port } = new URL(stack.url);
    const asking = send({ hostname, port, path: target, headers: sent }).end();
    const [answer] = await once(asking, 'response');
    answer.resume();
    const { location } = answer.headers;
    const own = [new URL(stack.url).host, 'gateway.example'];
    if (location !== undefined) expect(own).toContain(new URL(location, stack.url).host);
    expect(answer.headers['location:']).toBeUndefined();
  }
});
