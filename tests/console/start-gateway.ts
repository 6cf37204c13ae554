import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makePlace, type SignIn } from '#tests/console/place';
import { freePort } from '#tests/support/run/free-port';
import { deliverTo } from '#tools/sandbox/payments/deliver';
import { startStripe } from '#tools/sandbox/payments/server';
import { prepare } from '../../scripts/bootstrap.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const webhookSecret = 'whsec_console';
/** A busy machine may take minutes. */
const longestStartMs = 300_000;

/**
 * Builds the console if its sources have changed, and starts what `npm start` runs, on its own database. Sets
 * CONSOLE_URL, CONSOLE_EMAIL, CONSOLE_PASSWORD, CONSOLE_DATA_DIR and CONSOLE_DATABASE_URL in the environment.
 * @returns the teardown.
 */
export default async function startGateway(): Promise<() => Promise<void>> {
  const node = await prepare({ build: true });
  const place = await makePlace();
  const port = await freePort();
  const stripe = await startStripe();
  deliverTo(stripe.account, `http://localhost:${port}/api/stripe/webhook`, webhookSecret);
  const env = {
    ...process.env,
    ...place.env,
    NODE_ENV: 'production' as const,
    PORT: String(port),
    SIGN_UP_CREDIT_USD: '5',
    STRIPE_SECRET_KEY: 'sk_test_console',
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    STRIPE_API_BASE: stripe.url,
    OWN_KEYS: 'on',
    OWN_KEY_FEE_PERCENT: '5',
  };
  const server = spawn(node, ['dist/server.js'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  // Links in mail are printed there.
  const log = createWriteStream(join(place.dataDir, 'console.log'));
  server.stderr?.pipe(log);
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    await stripe.close();
    await place.remove();
  };
  try {
    const { email, password } = place.signIn ?? (await signInOf(server));
    if (place.signIn) await said(server, /Base URL\s+(\S+)/);
    Object.assign(process.env, {
      CONSOLE_URL: `http://localhost:${port}`,
      CONSOLE_EMAIL: email,
      CONSOLE_PASSWORD: password,
      CONSOLE_DATA_DIR: place.dataDir,
      CONSOLE_DATABASE_URL: place.databaseUrl,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

/** The demo user, as the first start prints it. */
async function signInOf(server: ChildProcess): Promise<SignIn> {
  const [, email = '', password = ''] = await said(server, /Sign in\s+(\S+) \/ (\S+)/);
  return { email, password };
}

/** Waits for a line in the gateway's output. */
async function said(server: ChildProcess, line: RegExp): Promise<RegExpExecArray> {
  let text = '';
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`the gateway did not start in time:\n${text}`)),
      longestStartMs,
    );
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      const found = line.exec(text);
      if (!found) return;
      clearTimeout(late);
      resolve(found);
    };
    server.stdout?.on('data', read);
    server.stderr?.on('data', read);
    server.once('exit', (code) => {
      clearTimeout(late);
      reject(new Error(`the gateway ended with ${code} while starting:\n${text}`));
    });
  });
}
