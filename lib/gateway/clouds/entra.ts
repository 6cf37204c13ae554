import { readFile } from 'node:fs/promises';
import type { CloudKey } from '#lib/core/facts/cloud-key';
import type { Auth } from '#lib/core/schemas/catalogue';
import type { Lasting } from '#lib/gateway/clouds/renewed';
import type { Send } from '#lib/gateway/clouds/send';

type EntraKey = Extract<CloudKey, { kind: 'entra-id' }>['key'];
type EntraAuth = Extract<Auth, { kind: 'entra-id' }>;

const publicAuthority = 'https://login.microsoftonline.com';
const publicScope = 'https://cognitiveservices.azure.com/.default';

/**
 * Gets access tokens of Microsoft Entra ID, each time a new one: with a client secret, with the workload identity that
 * the variables of Kubernetes name, or with a managed identity (contract: families/cloud-credentials).
 * @param variable the value of an environment variable; null: unset.
 */
export async function openEntra(
  key: EntraKey,
  { authority = publicAuthority, scope = publicScope }: EntraAuth,
  { send, variable }: { readonly send: Send; variable(name: string): string | null },
): Promise<() => Promise<Lasting<string>>> {
  const { ConfidentialClientApplication, ManagedIdentityApplication } = await import('@azure/msal-node');
  const app = (clientId: string, tenant: string, proof: object) => {
    const { host, protocol } = new URL(authority);
    const client = new ConfidentialClientApplication({
      // It takes only https here; `networkClient` sends to the address that is configured.
      auth: { clientId, authority: `https://${host}/${tenant}`, knownAuthorities: [host], ...proof },
      system: { networkClient: networkClient(send, protocol), disableInternalRetries: true },
    });
    return async () =>
      lasting(await client.acquireTokenByClientCredential({ scopes: [scope], skipCache: true }));
  };
  if (key && 'clientSecret' in key) return app(key.clientId, key.tenant, { clientSecret: key.clientSecret });
  const file = variable('AZURE_FEDERATED_TOKEN_FILE');
  const clientId = key?.clientId ?? variable('AZURE_CLIENT_ID');
  const tenant = variable('AZURE_TENANT_ID');
  if (file && clientId && tenant) {
    // Read each time, because it is replaced every hour.
    return app(clientId, tenant, { clientAssertion: async () => (await readFile(file, 'utf8')).trim() });
  }
  const identity = new ManagedIdentityApplication(
    clientId ? { managedIdentityIdParams: { userAssignedClientId: clientId } } : {},
  );
  const resource = scope.replace(/\/\.default$/, '');
  return async () => lasting(await identity.acquireToken({ resource, forceRefresh: true }));
}

function lasting(
  answer: { readonly accessToken: string; readonly expiresOn: Date | null } | null,
): Lasting<string> {
  if (!answer?.expiresOn) throw new Error('Entra ID gave no access token');
  return { value: answer.accessToken, untilMs: answer.expiresOn.getTime() };
}

interface Asked {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function networkClient(send: Send, protocol: string) {
  const ask =
    (method: 'GET' | 'POST') =>
    async <Body>(url: string, { headers = {}, body }: Asked = {}) => {
      const to = new URL(url);
      to.protocol = protocol;
      const answer = await send(to, { method, headers, ...(method === 'POST' && body ? { body } : {}) });
      return {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: (await answer.json()) as Body,
      };
    };
  return { sendGetRequestAsync: ask('GET'), sendPostRequestAsync: ask('POST') };
}
