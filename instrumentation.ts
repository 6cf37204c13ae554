import { getRuntime, setRuntimeStarter } from '#lib/gateway/flow/runtime';

/**
 * Next calls it once in each of its processes, before the first request. Where server.ts runs, the runtime is there
 * already; a host that runs only Next makes its own with the first call (contract: durability/settlement-modes).
 */
export function register(): void {
  // Next builds it for its edge runtime too, which has no use for it and none of its native modules.
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    if (getRuntime() !== null) return;
    setRuntimeStarter(async () => {
      const { startHost } = await import('#lib/programs/process/books/host');
      return startHost();
    });
  }
}
