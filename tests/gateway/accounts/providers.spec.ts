import { randomInt, randomUUID } from 'node:crypto';
import { decode, encode } from 'next-auth/jwt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CookieJar, cookieJar } from '#tests/support/identity/cookie-jar';
import { client, type IdentityProvider, startIdentityProvider } from '#tests/support/identity/provider';
import { type OwnStack, secrets, startStack } from '#tests/support/stack';

let stack: OwnStack;
let provider: IdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider();
  stack = await startStack({
    console: true,
    env: {
      GITHUB_ID: client.id,
      GITHUB_SECRET: client.secret,
      GITHUB_URL: provider.url,
      GOOGLE_ID: client.id,
      GOOGLE_SECRET: client.secret,
      GOOGLE_ISSUER: provider.url,
      ALLOW_SIGN_UP: 'on',
      SIGN_UP_CREDIT_USD: '3',
      LOG_LEVEL: 'fatal',
    },
  });
});
afterAll(async () => {
  await stack.close();
  await provider.close();
});

const newEmail = () => `${randomUUID()}@example.com`;
const newId = () => String(randomInt(1_000_000, 2 ** 40));

/** Starts the way to the provider as the button does. @returns the provider's address. */
async function start(jar: CookieJar, name: string, callbackUrl = '/'): Promise<string> {
  const { csrfToken } = await (await jar.fetch('/api/auth/csrf')).json();
  const answer = await jar.fetch(`/api/auth/signin/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ csrfToken, callbackUrl, json: 'true' }),
  });
  return (await answer.json()).url;
}

/** Through the provider and back. @returns where it ends, below the console. */
async function through(jar: CookieJar, address: string): Promise<string> {
  const consent = await jar.fetch(address);
  const back = await jar.fetch(consent.headers.get('location') ?? '');
  return (back.headers.get('location') ?? '').replace(origin(), '');
}

const origin = () => stack.url.replace('127.0.0.1', 'localhost');
const newJar = () => cookieJar(origin());
const session = async (jar: CookieJar) =>
  decode({ token: jar.get('next-auth.session-token') ?? '', secret: secrets.NEXTAUTH_SECRET }).catch(
    () => null,
  );

describe.each(['github', 'google'])('signing in with %s (contract: control-plane/other-accounts)', (name) => {
  it('signs up, in again as the same, and lands where one wanted to go', async () => {
    const identity = { id: newId(), name: 'Ann', email: newEmail(), verified: true };
    provider.become(identity);
    const jar = newJar();
    expect(await through(jar, await start(jar, name, '/account'))).toBe('/account');
    const first = await session(jar);
    const user = await stack.db.prisma.user.findUniqueOrThrow({
      where: { email: identity.email },
      include: { signUpWorkspace: true, sessions: true },
    });
    expect(user).toMatchObject({
      id: first?.userId,
      name: 'Ann',
      signUpWorkspace: { balanceNano: 3_000_000_000n },
    });
    expect(user.sessions).toMatchObject([{ id: first?.sessionId, method: name }]);
    expect((await jar.fetch('/account')).status).toBe(200);
    const again = newJar();
    await through(again, await start(again, name));
    expect(await session(again)).toMatchObject({ userId: user.id });
    expect((await session(again))?.sessionId).not.toBe(first?.sessionId);
  });

  it('does not sign a user in by an address that the provider has not verified', async () => {
    const email = newEmail();
    await stack.db.prisma.user.create({ data: { id: randomUUID(), email, emailVerifiedAt: new Date() } });
    for (const known of [email, newEmail()]) {
      provider.become({ id: newId(), name: 'Eve', email: known, verified: false });
      const jar = newJar();
      expect(await through(jar, await start(jar, name))).toBe('/sign-in?error=UnverifiedEmail');
      expect(await session(jar)).toBeNull();
    }
  });

  it('redirects only to the console, whatever address is requested', async () => {
    provider.become({ id: newId(), name: 'Bob', email: newEmail(), verified: true });
    for (const target of ['https://evil.example/', '//evil.example/x', '/\\evil.example']) {
      const jar = newJar();
      expect(await through(jar, await start(jar, name, target))).toBe('/');
    }
  });

  it('takes no answer that this browser did not ask for, and no answer twice', async () => {
    const victim = newJar();
    const attacker = newJar();
    provider.become({ id: newId(), name: 'Eve', email: newEmail(), verified: true });
    const consent = await attacker.fetch(await start(attacker, name));
    const answer = consent.headers.get('location') ?? '';
    await start(victim, name);
    expect((await victim.fetch(answer)).headers.get('location')).toContain('error=');
    expect(await session(victim)).toBeNull();
    expect((await attacker.fetch(answer)).headers.get('location')).toBe(`${origin()}/`);
    const { userId } = (await session(attacker)) ?? {};
    expect(userId).toBeDefined();
    expect((await newJar().fetch(answer)).headers.get('location')).toContain('error=');
  });
});

describe('connecting an account', () => {
  /** What the account page sets when its button is pressed. */
  const askToConnect = async (jar: CookieJar) => {
    const { userId = '', sessionId = '' } = (await session(jar)) ?? {};
    const token = { userId, sessionId, endsAtMs: 0 };
    const secret = secrets.NEXTAUTH_SECRET;
    jar.set('connect-account', await encode({ token, secret, salt: 'connect-account' }));
  };
  const enterAs = async (jar: CookieJar, name: string, email = newEmail()) => {
    const identity = { id: newId(), name: 'Ann', email, verified: true };
    provider.become(identity);
    await through(jar, await start(jar, name));
    return identity;
  };

  it('adds a sign-in method for the signed-in user, whatever its address, and keeps the session', async () => {
    const jar = newJar();
    await enterAs(jar, 'github');
    const before = await session(jar);
    await askToConnect(jar);
    const google = { id: newId(), name: 'Ann', email: newEmail(), verified: false };
    provider.become(google);
    expect(await through(jar, await start(jar, 'google', '/account'))).toBe('/account');
    const after = await session(jar);
    expect(after?.userId).toBe(before?.userId);
    const rows = await stack.db.prisma.session.findMany({ where: { userId: after?.userId ?? '' } });
    expect(rows.map(({ id }) => id)).toEqual([after?.sessionId]);
    const again = newJar();
    await through(again, await start(again, 'google'));
    expect((await session(again))?.userId).toBe(before?.userId);
  });

  it('of another user is refused, and changes neither', async () => {
    const [ann, eve] = [newJar(), newJar()];
    const hers = await enterAs(ann, 'github');
    await enterAs(eve, 'google');
    const before = await session(eve);
    await askToConnect(eve);
    provider.become(hers);
    expect(await through(eve, await start(eve, 'github', '/account'))).toBe('/account?connect=taken');
    expect(await session(eve)).toMatchObject({ userId: before?.userId, sessionId: before?.sessionId });
    expect((await eve.fetch('/account')).status).toBe(200);
  });

  it('takes no word of an ended session: it is a sign-in', async () => {
    const jar = newJar();
    await enterAs(jar, 'github');
    await askToConnect(jar);
    const before = await session(jar);
    await stack.db.prisma.session.deleteMany({ where: { userId: before?.userId ?? '' } });
    await enterAs(jar, 'google');
    expect((await session(jar))?.userId).not.toBe(before?.userId);
  });
});

it('a cookie without a session connects nothing: the account signs in instead', async () => {
  provider.become({ id: newId(), name: 'Ann', email: newEmail(), verified: true });
  const jar = newJar();
  jar.set('connect-account', 'forged');
  expect(await through(jar, await start(jar, 'github'))).toBe('/');
  expect(await session(jar)).not.toBeNull();
});
