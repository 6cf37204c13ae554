import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deliverTo } from '#lib/sandbox/payments/deliver';
import { startStripe } from '#lib/sandbox/payments/server';
import { prepare } from '../../scripts/bootstrap.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const webhookSecret = 'whsec_console';
const longestStartMs = 90_000;

/**
 * Builds the console when its sources changed and starts what `npm start` runs, on an embedded database
 * of its own. Leaves CONSOLE_URL, CONSOLE_EMAIL, CONSOLE_PASSWORD and CONSOLE_DATA_DIR in the environment.
 * @returns the teardown.
 */
export default async function startGateway(): Promise<() => Promise<void>> {
  const node = await prepare({ build: true });
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-console-'));
  const port = await freePort();
  const stripe = await startStripe();
  deliverTo(stripe.account, `http://localhost:${port}/api/stripe/webhook`, webhookSecret);
  const env = {
    ...process.env,
    NODE_ENV: 'production' as const,
    DATA_DIR: dataDir,
    PORT: String(port),
    SIGN_UP_CREDIT_USD: '5',
    STRIPE_SECRET_KEY: 'sk_test_console',
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    STRIPE_API_BASE: stripe.url,
  };
  const server = spawn(node, ['server.ts'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  // Links of mail are printed there.
  const log = createWriteStream(join(dataDir, 'console.log'));
  server.stderr?.pipe(log);
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    await stripe.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const { email, password } = await signInOf(server);
    Object.assign(process.env, {
      CONSOLE_URL: `http://localhost:${port}`,
      CONSOLE_EMAIL: email,
      CONSOLE_PASSWORD: password,
      CONSOLE_DATA_DIR: dataDir,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

/** The demo user, as the first start prints it. */
async function signInOf(server: ChildProcess): Promise<{ email: string; password: string }> {
  let said = '';
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`the gateway did not start in time:\n${said}`)),
      longestStartMs,
    );
    const read = (chunk: Buffer) => {
      said += chunk.toString();
      const found = /Sign in\s+(\S+) \/ (\S+)/.exec(said);
      if (!found?.[1] || !found[2]) return;
      clearTimeout(late);
      resolve({ email: found[1], password: found[2] });
    };
    server.stdout?.on('data', read);
    server.stderr?.on('data', read);
    server.once('exit', (code) => {
      clearTimeout(late);
      reject(new Error(`the gateway ended with ${code} while starting:\n${said}`));
    });
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
