import type { ChildProcess } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '#tests/support/run/free-port';
import serverFlags from '../../scripts/server-flags.json' with { type: 'json' };
import { type Place, run, startNode, stop } from './processes.ts';

interface BenchModel {
  readonly id: string;
  readonly upstreamModel: string;
  readonly families: readonly string[];
  readonly output: 'text' | 'image' | 'video';
  readonly price: Readonly<Record<string, string>>;
}

interface GatewayOptions {
  readonly place: Place;
  readonly dataDir: string;
  readonly upstreamPort: number;
  readonly models: readonly BenchModel[];
  /** How many credentials its provider has; 1 if left out. */
  readonly credentials?: number;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A gateway that serves. */
interface GatewayProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  /**
   * A key of a new workspace with funds.
   * @param limit of each kind; "none": no limits.
   * @param settings further options of `workspace create`.
   */
  makeKey(name: string, limit: string, settings?: readonly string[]): Promise<string>;
}

/** Starts a gateway as scripts/start.mjs does, on its own data directory and with one provider. */
export async function startGatewayProcess(options: GatewayOptions): Promise<GatewayProcess> {
  const { place, dataDir, flags = [] } = options;
  await mkdir(dataDir, { recursive: true });
  const port = await freePort();
  const secret = 'b'.repeat(64);
  const env = {
    NODE_ENV: 'production',
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    SANDBOX: 'off',
    LOG_LEVEL: 'warn',
    BENCH_KEY: 'upstream',
    NEXTAUTH_SECRET: secret,
    ENCRYPTION_KEY: secret,
    KEY_PEPPER: secret,
    ...options.env,
  };
  const child = startNode(place, [...serverFlags, ...flags, 'dist/server.js'], env);
  // A full pipe would stop the server.
  child.stdout?.resume();
  const command = async (...args: string[]) =>
    JSON.parse(await run(startNode('rest', ['dist/gateway.js', ...args, '--json'], env)));
  try {
    await untilReady(port, child);
    const file = join(dataDir, 'bench.yaml');
    await writeFile(file, JSON.stringify(catalogueOf(options)));
    await command('catalogue', 'apply', file);
    for (let number = 2; number <= (options.credentials ?? 1); number += 1)
      await command('provider', 'set-credential', 'bench', '--name', `key-${number}`, '--env', 'BENCH_KEY');
  } catch (error) {
    await stop(child);
    throw error;
  }
  const makeKey = async (name: string, limit: string, settings: readonly string[] = []) => {
    const limits = ['--rpm', limit, '--tpm', limit, '--concurrency', limit];
    const { slug } = await command(
      'workspace',
      'create',
      '--name',
      name,
      '--credit',
      '1000000',
      ...limits,
      ...settings,
    );
    const { key } = await command('key', 'create', '--workspace', slug, '--name', name, ...limits);
    return key;
  };
  return { child, pid: child.pid ?? 0, port, makeKey };
}

function catalogueOf({ upstreamPort, models }: GatewayOptions): object {
  const families = new Set(models.flatMap((model) => model.families));
  const address = `http://127.0.0.1:${upstreamPort}/v1`;
  return {
    providers: [
      {
        id: 'bench',
        name: 'Bench upstream',
        families: Object.fromEntries([...families].map((family) => [family, address])),
        credential: { env: 'BENCH_KEY' },
      },
    ],
    models: models.map(({ id, output, ...offer }) => ({
      id,
      name: id,
      contextTokens: output === 'text' ? 128_000 : 0,
      maxOutputTokens: output === 'text' ? 16_384 : 0,
      input: ['text', 'image'],
      output: [output],
      offers: [{ provider: 'bench', ...offer }],
    })),
  };
}

/** @throws Error if the server ends, or is not ready after two minutes. */
async function untilReady(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const ended = child.exitCode ?? child.signalCode;
    if (ended !== null) throw new Error(`the server ended (${ended})`);
    const health = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => null);
    await health?.body?.cancel();
    if (health?.status === 200) return;
    await pause(200);
  }
  throw new Error('the server was not ready after two minutes');
}
