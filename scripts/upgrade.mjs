// `npm run upgrade -- REF [--calls N] [--streams N]`: tests whether this version can take over from an earlier one. The
// commit or tag REF is installed in its own directory and serves calls. On the embedded database it is killed with open
// streams, and this version starts on its data. With DATABASE_URL (an empty database), this version migrates while the
// earlier one serves, both serve calls for a while, and then the earlier one is killed and its journal is settled.
// The last line has the result; exits 1 if a call was lost or the books do not balance.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { root } from './bootstrap.mjs';
import { freePort } from './free-port.mjs';
import { run } from './run.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { calls: { type: 'string', default: '200' }, streams: { type: 'string', default: '20' } },
});
const [ref] = positionals;
if (!ref) {
  console.error('Give the commit or tag of the earlier version: npm run upgrade -- v0.1.0');
  process.exit(2);
}

const work = mkdtempSync(join(tmpdir(), 'gateway-upgrade-'));
const earlier = join(work, 'earlier');
const secret = () => randomBytes(32).toString('hex');
const common = {
  ...process.env,
  HOST: '127.0.0.1',
  CONSOLE: 'off',
  SANDBOX: 'on',
  LOG_LEVEL: 'warn',
  KEY_PEPPER: secret(),
  ENCRYPTION_KEY: secret(),
  NEXTAUTH_SECRET: secret(),
};
const beside = Boolean(process.env.DATABASE_URL);
const running = new Set();
/** Ids of the calls that were answered completely. */
const answered = [];
let lastFailure = '';

try {
  await run('git', ['worktree', 'add', '--detach', '--quiet', earlier, ref], { cwd: root });
  const old = await start(earlier, 'data');
  for (const files of ['catalogue', 'catalogue/sandbox.yaml']) command(old, 'catalogue', 'apply', files);
  command(old, ...'workspace create --name Upgrade --credit 1000 --rpm none --concurrency none'.split(' '));
  const made = command(old, 'key', 'create', '--workspace', 'upgrade', '--name', 'upgrade');
  const key = /mg_\w+/.exec(made)?.[0];
  if (!key) throw new Error(`the earlier version printed no key:\n${made}`);
  await calls([old], key, Number(values.calls));
  const besides = beside ? await start(root, 'data-2') : null;
  if (besides) await calls([old, besides], key, Number(values.calls));
  const cut = Array.from({ length: Number(values.streams) }, () => call(old, key, '[[pace/100/600]]', true));
  await pause(3_000);
  await stop(old, 'SIGKILL');
  const broken = (await Promise.all(cut)).filter((id) => id === null).length;
  const before = answered.length;

  const now = await start(root, 'data');
  await calls([now], key, 20);
  // Calls are in the log within 2 seconds.
  await pause(2_500);
  const logged = new Set(idsInLog(now));
  const lost = answered.filter((id) => !logged.has(id)).length;
  const ledger = spawnSync(process.execPath, [gatewayOf(now), 'ledger', 'verify'], {
    env: now.env,
    stdio: 'inherit',
  });
  for (const one of running) await stop(one, 'SIGTERM');
  const how = beside ? 'PostgreSQL, beside this version' : 'embedded database';
  console.log(
    `${ref}, ${how}: ${before} calls answered before the kill, ${broken} streams cut, ${answered.length - before} answered after; ${lost} lost; ledger ${ledger.status === 0 ? 'ok' : 'NOT ok'}`,
  );
  process.exitCode = lost === 0 && ledger.status === 0 ? 0 : 1;
} finally {
  for (const one of running) await stop(one, 'SIGKILL');
  spawnSync('git', ['worktree', 'remove', '--force', earlier], { cwd: root });
  rmSync(work, { recursive: true, force: true });
}

/** Starts the version in `directory` on `data`, and waits until it serves calls. */
async function start(directory, data) {
  const port = await freePort();
  const env = { ...common, PORT: String(port), DATA_DIR: join(work, data) };
  const child = spawn(process.execPath, ['scripts/start.mjs'], {
    cwd: directory,
    env,
    stdio: 'inherit',
    detached: true,
  });
  const one = { directory, env, child, url: `http://127.0.0.1:${port}` };
  running.add(one);
  const ended = once(child, 'exit');
  for (;;) {
    const ready = await fetch(`${one.url}/api/health`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return one;
    const over = await Promise.race([ended, pause(500)]);
    if (over) throw new Error(`the version in ${directory} ended while starting`);
  }
}

/** Stops a gateway and its child processes. */
async function stop(one, signal) {
  running.delete(one);
  const { child } = one;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(signal === 'SIGKILL' ? -child.pid : child.pid, signal);
  await ended;
}

function gatewayOf({ directory }) {
  return join(directory, 'scripts/gateway.mjs');
}

/** Runs a command of that version. @returns its output. */
function command(one, ...args) {
  const made = spawnSync(process.execPath, [gatewayOf(one), ...args], {
    cwd: one.directory,
    env: one.env,
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`gateway ${args.join(' ')} failed:\n${made.stdout}${made.stderr}`);
  return made.stdout;
}

/** Ids of all answered calls in the log. */
function idsInLog(one) {
  const ids = [];
  for (let after = []; ; ) {
    const page = command(
      one,
      ...'call list --workspace upgrade --outcome ok --limit 100'.split(' '),
      ...after,
    );
    ids.push(...page.matchAll(/^\S+Z\s+([\da-f-]{36})\s/gm).map(([, id]) => id));
    const next = /--after (\S+)/.exec(page)?.[1];
    if (!next) return ids;
    after = ['--after', next];
  }
}

async function calls(gateways, key, count) {
  for (let done = 0; done < count; done += 10) {
    const ids = await Promise.all(
      Array.from({ length: 10 }, (_, at) => call(gateways[at % gateways.length], key, '', at % 3 === 1)),
    );
    for (const id of ids) {
      if (id === null) throw new Error(`a call was not answered: ${lastFailure}`);
      answered.push(id);
    }
  }
}

/** @returns the id of a call that was answered completely; null: it was not. */
async function call({ url }, key, wish, stream) {
  const body = { model: 'sandbox/echo', stream, messages: [{ role: 'user', content: `Hello ${wish}` }] };
  try {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    const whole = answer.status === 200 && (!stream || text.includes('data: [DONE]'));
    if (!whole) lastFailure = `${answer.status} ${text.slice(0, 300)}`;
    return whole ? answer.headers.get('x-request-id') : null;
  } catch {
    return null;
  }
}
