import { Refused, refusal } from '#lib/core/errors';
import { SLACK_SECONDS, standOfCache } from '#lib/core/families/generate-content/caches';
import { parseJson } from '#lib/core/families/reading/json';
import { extendCall, type FamilyCall, type StoredCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { unknown } from '#lib/gateway/flow/steps/own-resource';
import { invalidBody } from '#lib/gateway/flow/upload/body-faults';
import { placeCall } from '#lib/gateway/flow/upload/take-place';
import { askProvider } from '#lib/gateway/jobs/ask-provider';
import { readAtMost } from '#lib/platform/read-at-most';

const READ_MS = 10_000;
const MOST_BYTES = 1024 * 1024;

/**
 * Finds out for how long more a context cache is asked to be kept: of one that is there, its provider says until when it
 * is paid (contract: batches/cache-charge). That is asked after the limits.
 * @throws Refused `not_found`; `upstream_request_failed` when the provider does not say it.
 */
export async function timeCache<Stage extends FamilyCall>(runtime: Runtime, call: Stage): Promise<Stage> {
  const { params, resource } = call;
  if (resource === null)
    return extendCall(call, { params: { ...params, nowMs: String(runtime.clock.now()) } });
  await placeCall(runtime, call);
  const { untilMs, tokens } = await readStand(runtime, extendCall(call, { resource }));
  return extendCall(call, {
    params: {
      ...params,
      nowMs: String(runtime.clock.now()),
      untilMs: String(untilMs),
      tokens: String(Math.max(tokens, resource.tokens)),
    },
  });
}

async function readStand(
  runtime: Runtime,
  call: StoredCall,
): Promise<NonNullable<ReturnType<typeof standOfCache>>> {
  const answer = await askFor(runtime, call);
  if (answer.status === 404 || isGone(call, answer)) throw new Refused(unknown('cache'));
  const stand = answer.status === 200 ? standOfCache(parseJson(answer.text)) : null;
  if (stand) return stand;
  const why = answer.status === null ? 'it gave no answer' : `its answer was ${answer.status}`;
  throw new Refused(
    refusal(
      'upstream_request_failed',
      `The provider does not say when the context cache ends (${why}), so its time cannot be changed now; retry with backoff.`,
    ),
  );
}

/** Google's answer for a cache that has expired is 403; for a credential that it refuses, it is too. */
function isGone({ family }: StoredCall, { status, text }: Awaited<ReturnType<typeof askFor>>): boolean {
  return status === 403 && family.faultOf(status, parseJson(text)).whose === 'client';
}

/** A change that was sent later than its hold was reckoned for. @throws Refused `invalid_body`. */
export function checkTime(runtime: Runtime, { params, operation }: FamilyCall): void {
  if (!operation.caches || runtime.clock.now() - Number(params.nowMs) <= SLACK_SECONDS * 1_000) return;
  throw invalidBody(
    `The body of a request about a context cache must arrive within ${SLACK_SECONDS} s; send it again.`,
  );
}

/** @returns what the provider says of the cache; `status` null: it was not reached. */
async function askFor(
  runtime: Runtime,
  { resource, snapshot }: StoredCall,
): Promise<{ readonly status: number | null; readonly text: string }> {
  const parts = {
    pools: runtime.pools,
    access: runtime.access,
    catalogue: () => runtime.catalogue(),
    ownKey: async (_: string, name: string) =>
      snapshot.ownKeys?.find(({ credential }) => credential?.name === name) ?? null,
  };
  const path = `/cachedContents/${encodeURIComponent(resource.id)}`;
  const signal = AbortSignal.timeout(READ_MS);
  try {
    const answer = await askProvider(parts, resource, { path, accept: 'application/json', signal });
    const read = answer && (await readAtMost(answer.body, MOST_BYTES));
    return { status: answer?.status ?? null, text: read?.toString('utf8') ?? '' };
  } catch {
    // No connection, a time-out, no token of a cloud: nothing is known now, and the client may ask again.
    return { status: null, text: '' };
  }
}
