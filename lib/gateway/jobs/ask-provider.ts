import { isOwnKeyName, type OwnKey } from '#lib/core/facts/credential';
import type { Catalogue } from '#lib/core/facts/snapshot';
import { credentialHeaderOf } from '#lib/core/families/credential-header';
import { familyOf } from '#lib/core/families/index';
import type { Access } from '#lib/gateway/clouds/access';
import type { StoredJob } from '#lib/gateway/jobs/job-store';
import { addressOf, keepersOf } from '#lib/gateway/routing/pure/pool';
import type { Pools } from '#lib/gateway/upstream/pools';

/** Where providers are found, and with what they are called. */
export interface ProviderParts {
  readonly pools: Pools;
  readonly access: Access;
  catalogue(): Catalogue;
  /** The own key of that name, if the workspace still has it. @throws when the database cannot be asked. */
  ownKey(workspaceId: string, name: string): Promise<OwnKey | null>;
}

interface ProviderAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array> & {
    on(event: 'error', listener: () => void): unknown;
    destroy(): unknown;
  };
}

const CONNECT_MS = 5_000;

/**
 * Sends a GET about a job over the pools of the call path, with the provider's address in the catalogue in force and the
 * credential that made the job: a job whose offer or credential was withdrawn is still the provider's.
 * @param path after the provider's versioned root.
 * @returns null: the provider has no address or credential. @throws when it cannot be reached.
 */
export async function askProvider(
  parts: ProviderParts,
  job: Pick<StoredJob, 'workspaceId' | 'providerId' | 'family' | 'credential'>,
  { path, accept, signal }: { readonly path: string; readonly accept: string; readonly signal: AbortSignal },
): Promise<ProviderAnswer | null> {
  const provider = parts.catalogue().providers.get(job.providerId);
  const family = familyOf(job.family);
  const own = isOwnKeyName(job.credential) ? await parts.ownKey(job.workspaceId, job.credential) : null;
  const [credential] = provider ? keepersOf(provider, job.credential, own ? [own] : []) : [];
  const url = provider && credential && addressOf(provider, job.family, credential);
  if (!family || !provider || !url || !credential) return null;
  const { credential: sent, sign } = await parts.access.open(provider, credential, url);
  const header = credentialHeaderOf(family, provider, sent);
  const full = `${url.pathname.replace(/\/+$/, '')}${path}`;
  const unsigned = { method: 'GET', path: full, contentType: null, body: null };
  const headers = header ?? (await sign?.(unsigned)) ?? [];
  const pool = credential.own?.address
    ? parts.pools.guarded(url.origin, CONNECT_MS)
    : parts.pools.for(url.origin, CONNECT_MS);
  const { statusCode: status, body } = await pool.request({
    method: 'GET',
    path: full,
    headers: ['accept', accept, 'accept-encoding', 'identity', ...(family.requiredHeader ?? []), ...headers],
    signal,
  });
  return { status, body };
}
