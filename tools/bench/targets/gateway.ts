import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#tests/support/run/free-port';
import serverFlags from '../../../scripts/server-flags.json' with { type: 'json' };
import { requestBody } from '../answers.ts';
import { heldFlags } from '../memory/held.ts';
import type { Bench, StartTarget } from '../plan.ts';
import { moveChildren, run, startNode, stop } from '../processes.ts';

export interface GatewayPlace {
  /** How many processes serve; given, none of them is kept to a core. */
  readonly workers?: number;
  /** Whether what the server starts, its database, stays on the server's core. */
  readonly oneCore?: boolean;
}

/** The gateway by one of its lanes: key, limits, funds, metering and journal on, as a customer gets it. */
export function startGateway(
  name: string,
  lane: 'node' | 'web',
  { workers, oneCore = false }: GatewayPlace = {},
): StartTarget {
  return async (bench) => {
    const dataDir = join(bench.folder, name);
    await mkdir(dataDir, { recursive: true });
    const heldFile = join(dataDir, 'held');
    const port = await freePort();
    const env = {
      NODE_ENV: 'production',
      LANE: lane,
      WORKERS: String(workers ?? 1),
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      SANDBOX: 'off',
      LOG_LEVEL: 'warn',
      BENCH_HELD: heldFile,
      BENCH_UPSTREAM_KEY: 'upstream',
      NEXTAUTH_SECRET: 'b'.repeat(64),
      ENCRYPTION_KEY: 'b'.repeat(64),
      KEY_PEPPER: 'b'.repeat(64),
      ...(bench.databaseUrl === null ? {} : { DATABASE_URL: bench.databaseUrl }),
    };
    // As scripts/start.mjs starts it.
    const profile = bench.profile ? ['--cpu-prof', '--cpu-prof-dir=tools/bench/results'] : [];
    const child = startNode(
      workers === undefined ? 'server' : 'any',
      [...serverFlags, ...heldFlags, ...profile, 'server.ts'],
      env,
    );
    // A full pipe would stop the server.
    child.stdout?.resume();
    try {
      await untilReady(port, () => child.exitCode ?? child.signalCode);
      const key = await prepare(bench, dataDir, name, env);
      await probe(port, key);
      if (workers === undefined && !oneCore) moveChildren(child.pid ?? 0);
      // Of several processes, the one that is known here serves nobody.
      const told = workers === undefined ? heldFile : null;
      const models = { whole: 'bench/instant', stream: 'bench/stream' };
      return { name, pid: child.pid ?? 0, port, key, models, heldFile: told, stop: () => stop(child) };
    } catch (error) {
      await stop(child);
      throw error;
    }
  };
}

/** One call by hand. @throws with the answer when it is not 200: nothing is worth measuring then. */
async function probe(port: number, key: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: requestBody('bench/instant', false),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`it answers ${answer.status}: ${text.slice(0, 200)}`);
}

/** Catalogue, workspace and key by the command line, with limits that a load cannot reach. */
async function prepare(
  bench: Bench,
  dataDir: string,
  lane: string,
  env: Record<string, string>,
): Promise<string> {
  const file = join(dataDir, 'bench.yaml');
  await writeFile(file, catalogue(bench));
  const command = async (...args: string[]) =>
    JSON.parse(await run(startNode('rest', ['bin/gateway.ts', ...args, '--json'], env)));
  const limits = ['--rpm', '100000000', '--tpm', '1000000000', '--concurrency', '100000'];
  await command('catalogue', 'apply', file);
  const name = `bench-${lane}-${process.pid}`;
  const workspace: { slug: string } = await command(
    'workspace',
    'create',
    '--name',
    name,
    '--credit',
    '1000000',
    ...limits,
  );
  const made: { key: string } = await command(
    'key',
    'create',
    '--workspace',
    workspace.slug,
    '--name',
    'bench',
    ...limits,
  );
  return made.key;
}

function catalogue({ upstreamPort, pace }: Bench): string {
  const model = (id: string, upstreamModel: string) => `
  - id: ${id}
    name: ${id}
    contextTokens: 128000
    maxOutputTokens: 16384
    input: [text]
    output: [text]
    offers:
      - provider: bench
        upstreamModel: ${upstreamModel}
        families: [chat]
        price: { input: "1", cachedInput: "0.25", output: "4" }`;
  return `providers:
  - id: bench
    name: Bench upstream
    families: { chat: "http://127.0.0.1:${upstreamPort}/v1" }
    credential: { env: BENCH_UPSTREAM_KEY }
models:${model('bench/instant', 'instant')}${model('bench/stream', pace)}
`;
}

/** @throws when the server ends, or is not ready after two minutes. */
async function untilReady(port: number, ended: () => unknown): Promise<void> {
  const untilMs = performance.now() + 120_000;
  while (performance.now() < untilMs) {
    if (ended() !== null) throw new Error(`the server ended (${ended()})`);
    const health = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => null);
    await health?.body?.cancel();
    if (health?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('the server was not ready after two minutes');
}
