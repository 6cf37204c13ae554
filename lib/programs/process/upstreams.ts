import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { standInFor } from '#lib/control/billing/payments/stand-in';
import { type Env, envSecret } from '#lib/platform/env/env';

/** Values of `env:` entries in the catalogue, including the simulated provider's. */
export interface Upstreams {
  envSecret(name: string): string | null;
  /** What the simulated provider adds to the environment; empty if it is off. */
  readonly secrets: readonly (readonly [name: string, value: string])[];
  close(): Promise<void>;
}

/** The pause before a simulated provider that ended is restarted, ms; it doubles up to the longest. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

const program = fileURLToPath(new URL('../../../tools/sandbox/main.ts', import.meta.url));

/**
 * Starts the simulated provider if it is switched on: a separate process, which ends with this one. If it
 * ends unexpectedly, it is restarted with the same address and key, because the catalogue has already read
 * them.
 */
export async function openUpstreams(env: Env, log: Logger): Promise<Upstreams> {
  if (!env.sandbox) return { envSecret, secrets: [], close: async () => {} };
  const key = randomBytes(16).toString('hex');
  const till = standInFor(env);
  let child = start(['--port', '0', '--key', key, ...(till?.flags ?? [])]);
  const { url, payments } = await addressesOf(child);
  const flagsAgain = ['--port', new URL(url).port, '--key', key, ...(till?.flags ?? [])];
  if (payments !== undefined) flagsAgain.push('--payments-port', new URL(payments).port);
  let closing = false;
  let pauseMs = FIRST_PAUSE_MS;
  let again: NodeJS.Timeout | undefined;
  const watch = () => {
    const startedMs = performance.now();
    child.once('exit', (code, signal) => {
      if (closing) return;
      // One that ran for a while gets the first pause again.
      if (performance.now() - startedMs > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      log.warn({ code, signal, pauseMs }, 'the simulated provider ended unexpectedly: starting it again');
      again = setTimeout(() => {
        child = start(flagsAgain);
        child.once('error', (error) => log.warn({ reason: error.message }, 'the simulated provider'));
        child.stdout?.resume();
        watch();
      }, pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    });
  };
  watch();
  const values = new Map([
    ['SANDBOX_URL', url],
    ['SANDBOX_KEY', key],
    ...(till && payments ? till.settings(payments) : []),
  ]);
  return {
    envSecret: (name) => envSecret(name) ?? values.get(name) ?? null,
    secrets: [...values],
    close: () =>
      new Promise((resolve) => {
        closing = true;
        clearTimeout(again);
        child.once('exit', () => resolve());
        if (child.exitCode !== null || child.signalCode !== null) resolve();
        child.stdin?.end();
      }),
  };
}

function start(flags: readonly string[]): ChildProcess {
  const child = spawn(
    process.execPath,
    [program, '--tied', ...flags],
    // Its own process group: the terminal's Ctrl-C must not end it before this process has drained.
    { stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  );
  child.stderr.on('data', (text) => process.stderr.write(text));
  // It may be gone when its standard input is closed.
  child.stdin.on('error', () => undefined);
  return child;
}

function addressesOf(child: ChildProcess): Promise<{ url: string; payments?: string }> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the simulated provider failed to start (exit ${code})`)));
    child.once('error', reject);
    if (!child.stdout) return;
    createInterface(child.stdout).once('line', (line) => resolve(JSON.parse(line)));
  });
}
