import { join } from 'node:path';
import { heldFlags } from '../memory/held.ts';
import type { StartTarget } from '../plan.ts';
import { firstLine, startNode, stop } from '../processes.ts';

/** `node:http` and undici `dispatch` with JSON and usage parsed: the gateway's measure. */
export const startBare: StartTarget = async ({ upstreamPort, pace, folder }) => {
  const heldFile = join(folder, 'bare.held');
  const env = { UPSTREAM: `http://127.0.0.1:${upstreamPort}`, BENCH_HELD: heldFile };
  const child = startNode('server', [...heldFlags, 'tools/bench/bare-proxy.ts'], env);
  const { port }: { port: number } = JSON.parse(await firstLine(child));
  return {
    name: 'bare',
    pid: child.pid ?? 0,
    port,
    key: 'none',
    models: { whole: 'instant', stream: pace },
    heldFile,
    stop: () => stop(child),
  };
};
