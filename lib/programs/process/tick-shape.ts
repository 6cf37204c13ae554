import { executionAsyncResource } from 'node:async_hooks';

const kept: object[] = [];

/**
 * Keeps one tick of `process.nextTick` for as long as the process lives. A full garbage collection that finds
 * no tick drops the shape that ticks have, and from then on V8 builds each of the dozen ticks of a call the
 * slow way: a tenth of the call's time (docs/decisions/hot-path.md).
 */
export function keepTickShape(): void {
  process.nextTick(() => kept.push(executionAsyncResource()));
}
