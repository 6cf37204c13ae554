import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Env, envSecret } from '#lib/env';

/** Where `env:` entries of the catalogue find their values, the simulated provider's included. */
export interface Upstreams {
  envSecret(name: string): string | null;
  close(): Promise<void>;
}

/** Starts the simulated provider when it is switched on: its own process, which ends with this one. */
export async function openUpstreams(env: Env): Promise<Upstreams> {
  if (!env.sandbox) return { envSecret, close: async () => {} };
  const key = randomBytes(16).toString('hex');
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../sandbox/main.ts', import.meta.url)), '--tied', '--key', key],
    // A group of its own: the terminal's Ctrl-C must not end it before this process has drained.
    { stdio: ['pipe', 'pipe', 'inherit'], detached: true },
  );
  const url = await addressOf(child);
  const values = new Map([
    ['SANDBOX_URL', url],
    ['SANDBOX_KEY', key],
  ]);
  return {
    envSecret: (name) => envSecret(name) ?? values.get(name) ?? null,
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        if (child.exitCode !== null || child.signalCode !== null) resolve();
        child.stdin?.end();
      }),
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) =>
      reject(new Error(`the simulated provider ended at its start (exit ${code})`)),
    );
    child.once('error', reject);
    if (!child.stdout) return;
    createInterface(child.stdout).once('line', (line) => resolve(JSON.parse(line).url));
  });
}
