import { isOwnKeyName } from '#lib/core/facts/credential';
import type { JobSight } from '#lib/core/facts/job';
import { familyOf } from '#lib/core/families/index';
import { askProvider, type ProviderParts } from '#lib/gateway/jobs/ask-provider';
import type { StoredJob } from '#lib/gateway/jobs/job-store';

/** What a provider answered. */
export type Polled =
  | { readonly kind: 'seen'; readonly sight: JobSight }
  /** The provider does not know the job. */
  | { readonly kind: 'missing' }
  /** Nothing is known now. `why` contains no secret; null: nothing that the operator could fix. */
  | { readonly kind: 'later'; readonly why: string | null };

/** Asks a provider for the state of a job. Never rejects. */
export type Poll = (job: StoredJob, signal: AbortSignal) => Promise<Polled>;

/** Largest answer that is read: that of a whole answer on the call path. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Polls with the credential that made the job (`ask-provider`). */
export function createPoll(parts: ProviderParts): Poll {
  return async (job, signal) => {
    const jobs = familyOf(job.family)?.jobs;
    const isOwn = isOwnKeyName(job.credential);
    try {
      const path = jobs?.pollPath({ id: job.id, upstreamModel: job.upstreamModel });
      const answer =
        path === undefined
          ? null
          : await askProvider(parts, job, { path, accept: 'application/json', signal });
      if (!jobs || !answer) {
        const why = `provider ${job.providerId} has no address or credential for its jobs`;
        // An own key that was deleted is nothing that the operator could fix.
        return { kind: 'later', why: isOwn ? null : why };
      }
      const { status, body } = answer;
      if (status < 200 || status >= 300) {
        body.on('error', () => {});
        body.destroy();
        const { kind, why = null } = { why: null, ...refused(status, job.providerId) };
        return kind === 'later' ? { kind, why: isOwn ? null : why } : { kind: 'missing' };
      }
      const sight = jobs.read(job.facts, JSON.parse(await textOf(body)));
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
