/** What tells whether two calls were refused for the same reason. */
interface Refusable {
  readonly endReason: string;
  readonly keyId: string;
  readonly errorCode: string | null;
  /** The model that was asked for. */
  readonly requested: string | null;
}

/**
 * The calls of a list, those together that were refused one after the other for the same reason: same key, error code
 * and model. A client that repeats one mistake would bury all others. Pure; the order stays.
 */
export function refusedRuns<Call extends Refusable>(calls: readonly Call[]): Call[][] {
  const runs: Call[][] = [];
  for (const call of calls) {
    const run = runs.at(-1);
    const first = run?.[0];
    if (run && first && isSameRefusal(first, call)) run.push(call);
    else runs.push([call]);
  }
  return runs;
}

function isSameRefusal(one: Refusable, other: Refusable): boolean {
  return (
    one.endReason === 'refused' &&
    other.endReason === 'refused' &&
    one.keyId === other.keyId &&
    one.errorCode === other.errorCode &&
    one.requested === other.requested
  );
}
