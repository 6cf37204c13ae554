import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#tests/support/run/free-port';
import { type OwnStack, ready, root, tether } from '#tests/support/stack';

/** Another gateway process besides the stack's own, on the same database. */
export interface Second {
  readonly url: string;
  readonly process: ChildProcess;
  readonly dataDir: string;
  /** What it has written to its log. */
  log(): string;
  close(): Promise<void>;
}

/**
 * Starts another machine's gateway: its own DATA_DIR, the same database and provider.
 * @param port a free one unless given.
 */
export async function startSecond(
  stack: OwnStack,
  { port: given, env = {} }: { readonly port?: number; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Second> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-second-'));
  const port = given ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, ['--import', tether, join(root, 'dist/server.js')], {
    cwd: root,
    // It stops if the tests are killed.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {
      ...stack.environment,
      NODE_ENV: 'production',
      PORT: String(port),
      DATA_DIR: dataDir,
      ...env,
      MODEL_GATEWAY_TETHER: String(process.pid),
    },
  });
  let log = '';
  child.stderr?.on('data', (text) => {
    log += text;
    // Some tests look for warnings; errors are shown to the person who runs the tests.
    if (String(text).includes('"level":50')) process.stderr.write(text);
  });
  await ready(url, child, () => log);
  return {
    url,
    process: child,
    dataDir: env.DATA_DIR ?? dataDir,
    log: () => log,
    close: async () => {
      const ended = once(child, 'exit');
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
