import { join } from 'node:path';
import { heldFlags } from '../memory/held.ts';
import type { StartTarget } from '../plan.ts';
import { firstLine, startNode, stop } from '../processes.ts';

/** A script of this folder that serves, and prints its port. */
export function startScript(name: string, script: string): StartTarget {
  return async ({ upstreamPort, folder, flags }) => {
    const heldFile = join(folder, `${name}.held`);
    const env = { UPSTREAM: `http://127.0.0.1:${upstreamPort}`, BENCH_HELD: heldFile };
    const child = startNode('server', [...heldFlags, ...flags, `tools/bench/${script}`], env);
    const { port }: { port: number } = JSON.parse(await firstLine(child));
    return {
      name,
      pid: child.pid ?? 0,
      port,
      key: 'none',
      models: { whole: 'instant', stream: 'pace/100/40', brief: 'pace/20/5' },
      heldFile,
      stop: () => stop(child),
    };
  };
}
