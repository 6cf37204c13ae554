import { executionAsyncResource } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';

const kept: object[] = [];

/** Prepares V8 for the load of a gateway, before the first call (docs/decisions/hot-path.md). */
export function tuneEngine(): void {
  keepTickShape();
  // Not a flag of the command line, where a later V8 that has no such flag would refuse to start.
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/**
 * Keeps one tick of `process.nextTick` for as long as the process lives. A full garbage collection that finds
 * no tick drops the shape that ticks have, and from then on V8 builds each of the dozen ticks of a call the
 * slow way: a tenth of the call's time.
 */
function keepTickShape(): void {
  process.nextTick(() => kept.push(executionAsyncResource()));
}
