import { randomUUID } from 'node:crypto';
import { decode, encode } from 'next-auth/jwt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '#lib/control/operations/run';
import { acceptSecret } from '#lib/control/operations/secret/accept';
import { heldSecretsOf } from '#lib/control/operations/secret/prints';
import { readEnv } from '#lib/platform/env/env';
import { controlHost, createUser } from '#tests/support/control/operate';
import { type CookieJar, cookieJar } from '#tests/support/identity/cookie-jar';
import { client, type IdentityProvider, startIdentityProvider } from '#tests/support/identity/provider';
import { type OwnStack, secrets, startStack } from '#tests/support/stack';

const before = secrets.NEXTAUTH_SECRET;
const after = 'd'.repeat(64);
const sessionCookie = 'next-auth.session-token';
const person = { email: 'ann@example.com', password: 'three random words' };
let stack: OwnStack;
let provider: IdentityProvider;
const newJar = () => cookieJar(stack.url.replace('127.0.0.1', 'localhost'));

/** Has the database used with a secret, before a process of the roll-out starts. */
async function useWith(NEXTAUTH_SECRET: string): Promise<void> {
  const env = readEnv({ ...secrets, NEXTAUTH_SECRET, DATABASE_URL: stack.databaseUrl });
  const host = { ...controlHost(stack.db), heldSecrets: heldSecretsOf(env) };
  const input = { name: 'NEXTAUTH_SECRET', confirm: 'NEXTAUTH_SECRET' };
  await ask(host, acceptSecret, { actor: { kind: 'operator', name: 'test', address: null }, input });
}

beforeAll(async () => {
  provider = await startIdentityProvider();
  const github = { GITHUB_ID: client.id, GITHUB_SECRET: client.secret, GITHUB_URL: provider.url };
  stack = await startStack({
    console: true,
    env: { NEXTAUTH_SECRET: after, NEXTAUTH_SECRET_OLD: before, ALLOW_SIGN_UP: 'on', ...github },
  });
  await createUser(stack.db, person);
});
afterAll(async () => {
  await stack.close();
  await provider.close();
});

/** What a browser has from a process that signs with `secret`. */
async function sessionOf(secret: string): Promise<CookieJar> {
  const { id: userId } = await stack.db.prisma.user.findUniqueOrThrow({ where: { email: person.email } });
  const [sessionId, endsAtMs] = [randomUUID(), Date.now() + 3_600_000];
  await stack.db.prisma.session.create({
    data: { id: sessionId, userId, version: 1, method: 'password', endsAt: new Date(endsAtMs) },
  });
  const jar = newJar();
  jar.set(sessionCookie, await encode({ token: { userId, sessionId, endsAtMs }, secret }));
  return jar;
}

const post = (jar: CookieJar, path: string, fields: Record<string, string>) =>
  jar.fetch(`/api/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...fields, callbackUrl: '/', json: 'true' }),
  });
const form = async (jar: CookieJar) => (await (await jar.fetch('/api/auth/csrf')).json()).csrfToken;

/** With which of them a process signs. */
async function signer(jar: CookieJar): Promise<string | undefined> {
  const token = jar.get(sessionCookie);
  if (!token) return undefined;
  const read = [before, after].map((secret) => decode({ token, secret }).then(() => secret));
  return Promise.any(read).catch(() => undefined);
}

describe('a console whose secret is replaced (contract: operations/session-secret)', {
  timeout: 240_000,
}, () => {
  it('keeps who is signed in, signs as its database says, and ends what was begun with the other', async () => {
    // The first process of this database recorded what it has; now as if processes with the old one ran beside it.
    await stack.kill('SIGTERM');
    await useWith(before);
    await stack.start();
    for (const secret of [before, after]) {
      const jar = await sessionOf(secret);
      expect((await jar.fetch('/account')).status, secret).toBe(200);
    }
    expect((await (await sessionOf('f'.repeat(64))).fetch('/account')).status).toBe(307);

    const [half, third] = [newJar(), newJar()];
    const csrfToken = await form(half);
    provider.become({ id: '77', name: 'Bob', email: 'bob@example.com', verified: true });
    const consent = await post(third, 'signin/github', { csrfToken: await form(third) });
    const answer = await third.fetch((await consent.json()).url);

    const whole = newJar();
    await post(whole, 'callback/credentials', { csrfToken: await form(whole), ...person });
    expect(await signer(whole)).toBe(before);

    await stack.kill('SIGTERM');
    await useWith(after);
    await stack.start();
    expect((await whole.fetch('/account')).status).toBe(200);
    await post(half, 'callback/credentials', { csrfToken, ...person });
    expect(await signer(half)).toBe(after);
    await third.fetch(answer.headers.get('location') ?? '');
    expect(await signer(third)).toBe(after);
  });
});
