import type { CloudKey } from '#lib/core/facts/cloud-key';
import type { Lasting } from '#lib/gateway/clouds/renewed';
import type { Send } from '#lib/gateway/clouds/send';
import type { ServerClocks } from '#lib/gateway/clouds/server-clocks';

type GoogleKey = Extract<CloudKey, { kind: 'google-service-account' }>['key'];

const scopes = ['https://www.googleapis.com/auth/cloud-platform'];
const publicIssuer = 'https://oauth2.googleapis.com/token';
/** Without one, the library would ask another service for it, which workloads need no right for otherwise. */
const noProject = 'none';
/** How long an assertion is valid, s. */
const ASSERTED_SECONDS = 3_600;
/** Of a token whose issuer does not say how long it lives. */
const UNKNOWN_LIFE_MS = 5 * 60_000;

/** Gets access tokens of Google, each time a new one (contract: families/cloud-credentials). */
export async function openGoogle(
  key: GoogleKey,
  { send, clocks }: { readonly send: Send; readonly clocks: ServerClocks },
): Promise<() => Promise<Lasting<string>>> {
  const { gcpMetadata, GoogleAuth, JWT } = await import('google-auth-library');
  if (key?.type !== 'service_account') {
    return async () => {
      // The library would remember that there was no metadata server yet, as on a machine that just starts.
      if (key === null) gcpMetadata.resetIsAvailableCache();
      // A client keeps its token, and would give the same again. It has its own connections: the identity of the
      // machine comes from a server on the machine.
      const auth = new GoogleAuth({ scopes, projectId: noProject, ...(key && { credentials: key }) });
      const client = await auth.getClient();
      const { token } = await client.getAccessToken();
      return lasting(token, client.credentials.expiry_date);
    };
  }
  const { client_email: email, private_key: secret, token_uri: issuer = publicIssuer } = key;
  const { origin } = new URL(issuer);
  const fetchImplementation: Send = (input, init) =>
    send(String(input) === publicIssuer ? issuer : input, init);
  const ask = async () => {
    const iat = Math.floor(clocks.now(origin) / 1000);
    const client = new JWT({
      email,
      key: secret,
      scopes,
      additionalClaims: { aud: issuer, iat, exp: iat + ASSERTED_SECONDS },
      transporterOptions: { fetchImplementation },
    });
    const { token } = await client.getAccessToken();
    return lasting(token, client.credentials.expiry_date);
  };
  return async () => {
    const beforeMs = clocks.now(origin);
    try {
      return await ask();
    } catch (error) {
      // Its answer has shown that the assertion had a wrong time: once more with the right one.
      if (Math.abs(clocks.now(origin) - beforeMs) < ASSERTED_SECONDS) throw error;
      return await ask();
    }
  };
}

function lasting(token: string | null | undefined, untilMs: number | null | undefined): Lasting<string> {
  if (!token) throw new Error('Google gave no access token');
  return { value: token, untilMs: untilMs ?? Date.now() + UNKNOWN_LIFE_MS };
}
