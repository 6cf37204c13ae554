import type { Account, Profile } from 'next-auth';
import type { OAuthConfig } from 'next-auth/providers/oauth';
import { z } from 'zod';
import type { Env } from '#lib/platform/env/env';

/** What a provider says about the person who signs in there. */
export interface ProviderIdentity {
  readonly provider: string;
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly name: string | null;
}

const githubUser = z.object({
  id: z.union([z.int(), z.string()]),
  login: z.string(),
  name: z.string().nullish(),
});
const githubEmails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));
const patienceMs = 10_000;

/**
 * GitHub's user as we keep it: with the primary address, from the list that says which addresses are
 * verified.
 */
interface GithubProfile extends Profile {
  id: string;
  email_verified: boolean;
}

/** GitHub, or a GitHub Enterprise Server, whose API is below its own URL. */
function github({ id, secret, url }: NonNullable<Env['github']>): OAuthConfig<GithubProfile> {
  const api = url === 'https://github.com' ? 'https://api.github.com' : `${url}/api/v3`;
  const ask = async (path: string, token: string) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' };
    const answer = await fetch(`${api}${path}`, { headers, signal: AbortSignal.timeout(patienceMs) });
    if (!answer.ok) throw new Error(`GitHub answered ${answer.status} to ${path}`);
    return answer.json();
  };
  return {
    id: 'github',
    name: 'GitHub',
    type: 'oauth',
    clientId: id,
    clientSecret: secret,
    // GitHub names itself in its answer, and so does a GitHub Enterprise Server.
    issuer: `${url}/login/oauth`,
    authorization: { url: `${url}/login/oauth/authorize`, params: { scope: 'read:user user:email' } },
    token: `${url}/login/oauth/access_token`,
    checks: ['pkce', 'state'],
    httpOptions: { timeout: patienceMs },
    userinfo: {
      url: `${api}/user`,
      request: async ({ tokens }) => {
        const token = tokens.access_token ?? '';
        const user = githubUser.parse(await ask('/user', token));
        const emails = githubEmails.parse(await ask('/user/emails', token));
        const email = emails.find(({ primary }) => primary);
        return {
          id: String(user.id),
          sub: String(user.id),
          name: user.name ?? user.login,
          ...(email ? { email: email.email } : {}),
          email_verified: email?.verified ?? false,
        };
      },
    },
    profile: ({ id }) => unknownUser(id),
  };
}

/** Google, or another OpenID provider. */
function google({ id, secret, issuer }: NonNullable<Env['google']>): OAuthConfig<Profile> {
  return {
    id: 'google',
    name: 'Google',
    type: 'oauth',
    clientId: id,
    clientSecret: secret,
    wellKnown: `${issuer}/.well-known/openid-configuration`,
    authorization: { params: { scope: 'openid email profile', prompt: 'select_account' } },
    idToken: true,
    checks: ['pkce', 'state'],
    httpOptions: { timeout: patienceMs },
    profile: ({ sub }) => unknownUser(sub ?? ''),
  };
}

/** `signIn` finds the user here and fills this in. */
function unknownUser(id: string) {
  return { id, sessionId: '', endsAtMs: 0 };
}

/** The configured providers. */
export function otherProviders(env: Pick<Env, 'github' | 'google'>) {
  return [...(env.github ? [github(env.github)] : []), ...(env.google ? [google(env.google)] : [])];
}

/** Some OpenID providers write what is verified as a string instead of a boolean. */
const saidByProvider = z.object({
  name: z.string().nullish(),
  email: z.string().optional(),
  email_verified: z.union([z.boolean(), z.string()]).nullish(),
});

/**
 * What a provider says about a person, after next-auth has verified that the provider says it; invalid values
 * are left out.
 */
export function identityOf(account: Account, profile: Profile | undefined): ProviderIdentity {
  const { data: said } = saidByProvider.safeParse(profile);
  const name = said?.name?.replace(/\p{C}/gu, ' ').trim().slice(0, 100).toWellFormed();
  return {
    provider: account.provider,
    subject: account.providerAccountId,
    email: said?.email,
    emailVerified: said?.email_verified === true || said?.email_verified === 'true',
    name: name || null,
  };
}

/** Names of the configured providers, for pages. */
export function enabledProviders(env: Pick<Env, 'github' | 'google'> | undefined): string[] {
  return [...(env?.github ? ['github'] : []), ...(env?.google ? ['google'] : [])];
}
