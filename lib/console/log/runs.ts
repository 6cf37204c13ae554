/** What decides whether two calls were refused for the same reason. */
interface Refusable {
  readonly endReason: string;
  readonly keyId: string;
  readonly errorCode: string | null;
  /** The requested model. */
  readonly requested: string | null;
}

/**
 * Groups consecutive calls that were refused for the same reason (same key, error code and model), because a
 * client that repeats one mistake would bury all others. Pure; keeps the order.
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
