import type { StartTarget } from '../plan.ts';
import { firstLine, startNode, stop } from '../processes.ts';

/** `node:http` and undici `dispatch` with JSON and usage parsed: the gateway's measure. */
export const startBare: StartTarget = async ({ upstreamPort, pace }) => {
  const env = { UPSTREAM: `http://127.0.0.1:${upstreamPort}` };
  const child = startNode('server', ['bench/bare-proxy.ts'], env);
  const { port }: { port: number } = JSON.parse(await firstLine(child));
  return {
    name: 'bare',
    pid: child.pid ?? 0,
    port,
    key: 'none',
    models: { whole: 'instant', stream: pace },
    stop: () => stop(child),
  };
};
