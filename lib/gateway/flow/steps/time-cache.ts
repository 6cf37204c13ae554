import { Refused, refusal } from '#lib/core/errors';
import { standOfCache } from '#lib/core/families/generate-content/caches';
import { extendCall, type FamilyCall, type StoredCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { unknown } from '#lib/gateway/flow/steps/own-resource';
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
  const { resource, snapshot } = call;
  const parts = {
    pools: runtime.pools,
    access: runtime.access,
    catalogue: () => runtime.catalogue(),
    ownKey: async (_: string, name: string) =>
      snapshot.ownKeys?.find(({ credential }) => credential?.name === name) ?? null,
  };
  const path = `/cachedContents/${encodeURIComponent(resource.id)}`;
  try {
    const answer = await askProvider(parts, resource, {
      path,
      accept: 'application/json',
      signal: AbortSignal.timeout(READ_MS),
    });
    const text = answer && (await readAtMost(answer.body, MOST_BYTES));
    if (answer?.status === 404 || answer?.status === 403) throw new Refused(unknown('cache'));
    const stand = answer?.status === 200 && text ? standOfCache(JSON.parse(text.toString('utf8'))) : null;
    if (stand) return stand;
    throw new Error(`the provider answers ${answer?.status ?? 'nothing'} for a context cache`);
  } catch (error) {
    if (error instanceof Refused) throw error;
    runtime.report(error, call.id);
    throw new Refused(
      refusal(
        'upstream_request_failed',
        'The provider does not say until when the context cache is paid, so its time cannot be changed now; retry with backoff.',
      ),
    );
  }
}
