// `npm run upgrade -- REF [--calls N]`: whether this version takes over the data of an earlier one. The commit or tag
// REF is installed in a directory of its own and serves calls until it is killed with streams open; then this version
// starts on the same data. With DATABASE_URL (an empty database) on PostgreSQL, without it on the embedded one.
// The last line says what came of it; exit 1 if a call was lost or the books do not balance.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { root } from './bootstrap.mjs';
import { run } from './run.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { calls: { type: 'string', default: '200' }, streams: { type: 'string', default: '20' } },
});
const [ref] = positionals;
if (!ref) {
  console.error('Name the commit or tag of the earlier version: npm run upgrade -- v0.1.0');
  process.exit(2);
}

const work = mkdtempSync(join(tmpdir(), 'gateway-upgrade-'));
const earlier = join(work, 'earlier');
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const secret = () => randomBytes(32).toString('hex');
const env = {
  ...process.env,
  DATA_DIR: join(work, 'data'),
  HOST: '127.0.0.1',
  PORT: String(port),
  CONSOLE: 'off',
  SANDBOX: 'on',
  LOG_LEVEL: 'warn',
  KEY_PEPPER: secret(),
  ENCRYPTION_KEY: secret(),
  NEXTAUTH_SECRET: secret(),
};

/** Answered whole, by X-Request-Id. */
const answered = [];
let gateway = null;
try {
  await run('git', ['worktree', 'add', '--detach', '--quiet', earlier, ref], { cwd: root });
  await start(earlier);
  command(earlier, 'catalogue', 'apply', 'catalogue');
  command(
    earlier,
    'workspace',
    'create',
    '--name',
    'Upgrade',
    '--credit',
    '1000',
    '--rpm',
    'none',
    '--concurrency',
    'none',
  );
  const made = command(earlier, 'key', 'create', '--workspace', 'upgrade', '--name', 'upgrade');
  const key = /mg_\w+/.exec(made)?.[0];
  if (!key) throw new Error(`no key in what the earlier version printed:\n${made}`);
  await calls(key, Number(values.calls));
  const cut = Array.from({ length: Number(values.streams) }, () => call(key, '[[pace/100/600]]', true));
  await pause(3_000);
  await stop('SIGKILL');
  const broken = (await Promise.all(cut)).filter((id) => id === null).length;

  await start(root);
  const before = answered.length;
  await calls(key, 20);
  // The log has them within 2 seconds.
  await pause(2_500);
  const logged = new Set(idsInLog());
  const lost = answered.filter((id) => !logged.has(id)).length;
  const ledger = spawn(process.execPath, [join(root, 'scripts/gateway.mjs'), 'ledger', 'verify'], {
    env,
    stdio: 'inherit',
  });
  const [exit] = await once(ledger, 'exit');
  await stop('SIGTERM');
  console.log(
    `${ref}: ${before} calls answered before the kill, ${broken} streams cut, ${answered.length - before} answered after; ${lost} lost; ledger ${exit === 0 ? 'ok' : 'NOT ok'}`,
  );
  process.exitCode = lost === 0 && exit === 0 ? 0 : 1;
} finally {
  await stop('SIGKILL');
  spawnSync('git', ['worktree', 'remove', '--force', earlier], { cwd: root });
  rmSync(work, { recursive: true, force: true });
}

/** Starts the version in `directory` and waits until it takes calls. */
async function start(directory) {
  gateway = spawn(process.execPath, ['scripts/start.mjs'], {
    cwd: directory,
    env,
    stdio: 'inherit',
    detached: true,
  });
  const ended = once(gateway, 'exit');
  for (;;) {
    const ready = await fetch(`${url}/api/health`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    const over = await Promise.race([ended, pause(500)]);
    if (over) throw new Error(`the version in ${directory} ended at its start`);
  }
}

/** Ends the gateway with what it has started. */
async function stop(signal) {
  if (gateway === null || gateway.exitCode !== null || gateway.signalCode !== null) return;
  const ended = once(gateway, 'exit');
  process.kill(signal === 'SIGKILL' ? -gateway.pid : gateway.pid, signal);
  await ended;
}

/** A command of the version in `directory`. @returns what it printed. */
function command(directory, ...args) {
  const made = spawnSync(process.execPath, [join(directory, 'scripts/gateway.mjs'), ...args], {
    cwd: directory,
    env,
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`gateway ${args.join(' ')} failed:\n${made.stdout}${made.stderr}`);
  return made.stdout;
}

/** Ids of all calls in the log that were answered. */
function idsInLog() {
  const ids = [];
  for (let after = []; ; ) {
    const page = command(
      root,
      ...'call list --workspace upgrade --outcome ok --limit 100'.split(' '),
      ...after,
    );
    ids.push(...page.matchAll(/^\S+Z\s+([\da-f-]{36})\s/gm).map(([, id]) => id));
    const next = /--after (\S+)/.exec(page)?.[1];
    if (!next) return ids;
    after = ['--after', next];
  }
}

async function calls(key, count) {
  for (let done = 0; done < count; done += 10) {
    const ids = await Promise.all(Array.from({ length: 10 }, (_, at) => call(key, '', at % 2 === 1)));
    for (const id of ids) {
      if (id === null) throw new Error('a call was not answered');
      answered.push(id);
    }
  }
}

/** @returns the id of an answer that came whole; null: it did not. */
async function call(key, wish, stream) {
  const body = { model: 'sandbox/echo', stream, messages: [{ role: 'user', content: `Hello ${wish}` }] };
  try {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    const whole = answer.status === 200 && (!stream || text.includes('data: [DONE]'));
    return whole ? answer.headers.get('x-request-id') : null;
  } catch {
    return null;
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
