import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type OwnStack, root } from '#tests/support/stack';

/** A gateway process beside the stack's own, on the same database. */
export interface Second {
  readonly url: string;
  readonly process: ChildProcess;
  /** What it has written to its log. */
  log(): string;
  close(): Promise<void>;
}

/** Starts another machine's gateway: its own DATA_DIR, the same database and provider. */
export async function startSecond(stack: OwnStack): Promise<Second> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-second-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [join(root, 'server.ts')], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...stack.environment, NODE_ENV: 'production', PORT: String(port), DATA_DIR: dataDir },
  });
  let log = '';
  child.stderr.on('data', (text) => {
    log += text;
    // Warnings are asked for by some tests; errors are told to whoever runs them.
    if (String(text).includes('"level":50')) process.stderr.write(text);
  });
  await isReady(url, child);
  return {
    url,
    process: child,
    log: () => log,
    close: async () => {
      const ended = once(child, 'exit');
      if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Waits until a gateway answers 200 on /api/health. */
async function isReady(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode} at its start`);
    const health = await fetch(`${url}/api/health`).catch(() => null);
    if (health?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the gateway was not ready within 60 s');
}
