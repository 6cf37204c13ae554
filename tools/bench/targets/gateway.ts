import { join } from 'node:path';
import { requestBody } from '../bodies/shapes.ts';
import { startGatewayProcess } from '../gateway-process.ts';
import { heldFlags } from '../memory/held.ts';
import type { StartTarget } from '../plan.ts';
import { moveChildren, stop } from '../processes.ts';

interface GatewayPlace {
  /** How many processes serve; if given, none of them is pinned to a core. */
  readonly workers?: number;
  /** Whether the server's child process, its database, stays on the server's core. */
  readonly oneCore?: boolean;
  /** How many credentials its provider has; 1 if left out. */
  readonly credentials?: number;
  /** Options of `workspace create` for the workspace that calls. */
  readonly settings?: readonly string[];
  /** If given, metrics are on. */
  readonly metricsToken?: string;
}

const chat = {
  families: ['chat'],
  output: 'text',
  price: { input: '1', cachedInput: '0.25', output: '4' },
} as const;

/** The gateway on one of its lanes, with key, limits, funds, metering and journal, as customers get it. */
export function startGateway(
  name: string,
  lane: 'node' | 'web',
  { workers, oneCore = false, credentials = 1, settings = [], metricsToken = '' }: GatewayPlace = {},
): StartTarget {
  return async ({ folder, upstreamPort, flags }) => {
    const dataDir = join(folder, name);
    const heldFile = join(dataDir, 'held');
    const { child, pid, port, makeKey } = await startGatewayProcess({
      place: workers === undefined ? 'server' : 'any',
      dataDir,
      upstreamPort,
      models: [
        { id: 'bench/instant', upstreamModel: 'instant', ...chat },
        { id: 'bench/stream', upstreamModel: 'pace/100/40', ...chat },
        { id: 'bench/brief', upstreamModel: 'pace/20/5', ...chat },
      ],
      credentials,
      flags: [...heldFlags, ...flags],
      env: { LANE: lane, WORKERS: String(workers ?? 1), BENCH_HELD: heldFile, METRICS_TOKEN: metricsToken },
    });
    try {
      // Limits that the load cannot reach: they are counted, but refuse nothing.
      const key = await makeKey(`bench-${name}-${process.pid}`, '1000000000', settings);
      await probe(port, key);
      if (workers === undefined && !oneCore) moveChildren(pid);
      return {
        name,
        pid,
        port,
        key,
        models: { whole: 'bench/instant', stream: 'bench/stream', brief: 'bench/brief' },
        // With several processes, the one whose pid is known serves no calls.
        heldFile: workers === undefined ? heldFile : null,
        stop: () => stop(child),
      };
    } catch (error) {
      await stop(child);
      throw error;
    }
  };
}

/** Makes one call. @throws Error with the answer if it is not 200: then nothing is worth measuring. */
async function probe(port: number, key: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: requestBody('small', 'bench/instant', false),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`it answers ${answer.status}: ${text.slice(0, 200)}`);
}
