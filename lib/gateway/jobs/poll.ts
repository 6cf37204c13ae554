import { isOwnKeyName, type OwnKey } from '#lib/core/facts/credential';
import type { JobSight } from '#lib/core/facts/job';
import type { Catalogue } from '#lib/core/facts/snapshot';
import { credentialHeaderOf } from '#lib/core/families/credential-header';
import { familyOf } from '#lib/core/families/index';
import type { Access } from '#lib/gateway/clouds/access';
import type { StoredJob } from '#lib/gateway/jobs/job-store';
import { addressOf, keepersOf } from '#lib/gateway/routing/pure/pool';
import type { Pools } from '#lib/gateway/upstream/pools';

/** What a provider answered. */
export type Polled =
  | { readonly kind: 'seen'; readonly sight: JobSight }
  /** The provider does not know the job. */
  | { readonly kind: 'missing' }
  /** Nothing is known now. `why` contains no secret; null: nothing that the operator could fix. */
  | { readonly kind: 'later'; readonly why: string | null };

/** Asks a provider for the state of a job. Never rejects. */
export type Poll = (job: StoredJob, signal: AbortSignal) => Promise<Polled>;

const CONNECT_MS = 5_000;
/** Largest answer that is read: that of a whole answer on the call path. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * Polls over the pools of the call path, with the provider's address in the catalogue in force and the credential that
 * made the job: a job whose offer or credential was withdrawn is still the provider's.
 */
export function createPoll(parts: {
  readonly pools: Pools;
  readonly access: Access;
  catalogue(): Catalogue;
  /** The own key of that name, if the workspace still has it. @throws when the database cannot be asked. */
  ownKey(workspaceId: string, name: string): Promise<OwnKey | null>;
}): Poll {
  return async (job, signal) => {
    const provider = parts.catalogue().providers.get(job.providerId);
    const family = familyOf(job.family);
    try {
      const isOwn = isOwnKeyName(job.credential);
      const own = isOwn ? await parts.ownKey(job.workspaceId, job.credential) : null;
      const [credential] = provider ? keepersOf(provider, job.credential, own ? [own] : []) : [];
      const url = provider && credential && addressOf(provider, job.family, credential);
      if (!family?.jobs || !provider || !url || !credential) {
        const why = `provider ${job.providerId} has no address or credential for its jobs`;
        // An own key that was deleted is nothing that the operator could fix.
        return { kind: 'later', why: isOwn ? null : why };
      }
      const path = family.jobs.pollPath({ id: job.id, upstreamModel: job.upstreamModel });
      const { credential: sent, sign } = await parts.access.open(provider, credential, url);
      const header = credentialHeaderOf(family, provider, sent);
      const full = `${url.pathname.replace(/\/+$/, '')}${path}`;
      const unsigned = { method: 'GET', path: full, contentType: null, body: null };
      const headers = header ?? (await sign?.(unsigned)) ?? [];
      const { pools } = parts;
      const pool = credential.own?.address
        ? pools.guarded(url.origin, CONNECT_MS)
        : pools.for(url.origin, CONNECT_MS);
      const answer = await pool.request({
        method: 'GET',
        path: full,
        headers: ['accept', 'application/json', 'accept-encoding', 'identity', ...headers],
        signal,
      });
      const { statusCode: status, body } = answer;
      if (status < 200 || status >= 300) {
        body.on('error', () => {}).destroy();
        const { kind, why = null } = { why: null, ...refused(status, job.providerId) };
        return kind === 'later' ? { kind, why: isOwn ? null : why } : { kind: 'missing' };
      }
      const sight = family.jobs.read(job.facts, JSON.parse(await textOf(body)));
      return sight ? { kind: 'seen', sight } : { kind: 'later', why: null };
    } catch {
      // No connection, a time-out, an answer that is not JSON: the job's next poll or its loss shows it.
      return { kind: 'later', why: null };
    }
  };
}

function refused(status: number, providerId: string): Polled {
  if (status === 404 || status === 410) return { kind: 'missing' };
  const fault = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return { kind: 'later', why: fault ? `provider ${providerId} refuses to show a job (${status})` : null };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
