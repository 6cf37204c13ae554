import type { AttemptRecord } from '#lib/settlement/entry';

/** Where an attempt holds the id of its request at the provider, in SQL: `attempt->>5`. */
export const upstreamRequestIdAt = 5;

/** The attempts of a row of `call`, in their order. */
export function storedAttempts(json: unknown): AttemptRecord[] {
  return Array.isArray(json) ? json.map((one: unknown) => storedAttempt(Array.isArray(one) ? one : [])) : [];
}

/** One attempt as the row holds it: by position, what is missing at the end is null or false. */
export function storedAttempt(values: readonly unknown[]): AttemptRecord {
  const [provider, model, status, startMs, durationMs, upstreamRequestId, error, possibleDuplicate] = values;
  return {
    provider: String(provider ?? ''),
    model: String(model ?? ''),
    status: typeof status === 'number' ? status : null,
    error: typeof error === 'string' ? error : null,
    startMs: Number(startMs ?? 0),
    durationMs: Number(durationMs ?? 0),
    upstreamRequestId: typeof upstreamRequestId === 'string' ? upstreamRequestId : null,
    possibleDuplicate: possibleDuplicate === true,
  };
}
