import type { StartTarget } from '../plan.ts';
import { firstLine, startNode, stop } from '../processes.ts';

/** The upstream alone, on the server's core: what the load and the machine can do at all. */
export const startUpstreamAlone: StartTarget = async ({ pace }) => {
  const child = startNode('server', ['bench/upstream.ts']);
  const { port }: { port: number } = JSON.parse(await firstLine(child));
  return {
    name: 'upstream',
    pid: child.pid ?? 0,
    port,
    key: 'none',
    models: { whole: 'instant', stream: pace },
    heldFile: null,
    stop: () => stop(child),
  };
};
